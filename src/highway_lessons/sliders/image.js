// Behind explore.js, in one module. Pictures: a canvas each, a pixel for each cell, stretched by explore.css.
const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const share = (part, whole) => `${(100 * part) / whole}%`;
const within = (value, high) => Math.min(Math.max(value, 0), high);
const box = (kind, ...children) => make("div", { class: `hl-${kind}` }, ...children);
const tick = (edge, low, all) => ([at, text]) => make("span", { style: `${edge}:${share(at - low, all)}` }, text);
const written = (value, { scale, unit }) =>
  Number.isNaN(value) ? "no value" : `${Number((scale * value).toPrecision(3))}${unit}`.replaceAll("-", "−");

function fill(canvas, columns, values, { limits: [low, high], stops }) { // the first row is the lowest
  const rows = values.length / columns, last = stops.length - 1;
  [canvas.width, canvas.height] = [columns, rows];
  const context = canvas.getContext("2d"), picture = context.createImageData(columns, rows);
  values.forEach((value, i) => {
    if (Number.isNaN(value)) return; // the pixel stays transparent, and the hatching shows
    const along = last * within((value - low) / (high - low), 1), k = within(Math.floor(along), last - 1);
    const at = 4 * (columns * (rows - 1 - Math.floor(i / columns)) + (i % columns)), [from, to] = stops.slice(k, k + 2);
    for (let c = 0; c < 3; c++) picture.data[at + c] = from[c] + (along - k) * (to[c] - from[c]);
    picture.data[at + 3] = 255;
  });
  context.putImageData(picture, 0, 0);
}

function colourBar(bar) { // a picture of one row
  const canvas = make("canvas"), [low, high] = bar.limits;
  fill(canvas, 256, Float32Array.from({ length: 256 }, (_, i) => low + ((high - low) * i) / 255), bar);
  return box("bar", bar.label, canvas, box("x-ticks", ...bar.ticks.map(tick("left", low, high - low))));
}

// Put pictures in the place of `svg`, and return what draws a frame in them: its arrays, and the column and row that
// sliders point at, -1 for none. Where a reader looks at a cell, `line` shows its value; by keyboard it is `heard` too.
function pictures(svg, line, heard, axes, looks, ours) {
  const { columns, rows, bars } = axes, [nx, ny] = [columns.texts.length, rows.texts.length], cursor = box("cursor");
  let shown, pointed, spot; // the arrays; the sliders' column and row; where the reader looks: [picture, column, row]
  function surround(element, c, r) { // one cell, or a whole column or row
    const [x, wide] = c < 0 ? [0, nx] : [c, 1], [y, high] = r < 0 ? [0, ny] : [r, 1];
    const [left, width, bottom, height] = [share(x, nx), share(wide, nx), share(y, ny), share(high, ny)];
    Object.assign(element.style, { left, width, bottom, height, display: c < 0 && r < 0 ? "none" : "" });
  }
  function read(k, column, row) {
    const c = within(Math.floor(column), nx - 1), r = within(Math.floor(row), ny - 1), { before, bar } = looks[k];
    const place = `${before}${axes.xlabel} ${columns.texts[c]}, ${axes.ylabel} ${rows.texts[r]}`;
    line.textContent = `${place}: ${written(shown[k][r * nx + c], bars[bar])}`;
    spot = [k, c, r];
    surround(cursor, c, r);
    canvases[k].after(cursor);
  }
  const rest = () => { cursor.remove(); line.textContent = "Point at a cell, or use the arrow keys, to read it."; };
  const start = (k) => (spot?.[0] === k ? spot : [k, ...pointed.map((at, i) => (at < 0 ? [nx, ny][i] >> 1 : at))]);
  const canvases = looks.map(({ name }, k) => {
    const label = `${name}: ${nx} by ${ny} cells, read with the arrow keys`;
    const canvas = make("canvas", { tabindex: 0, role: "application", "aria-label": label, ...ours });
    const point = (e) => read(k, (nx * e.offsetX) / canvas.clientWidth, ny - (ny * e.offsetY) / canvas.clientHeight);
    const press = (event) => {
      if (!steps[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
      const [, c, r] = start(k), [right, up] = steps[event.key];
      event.preventDefault();
      read(k, c + right, r + up);
      heard.textContent = line.textContent;
    };
    const focus = () => { read(...start(k)); heard.textContent = line.textContent; };
    const heeded = { pointermove: point, pointerdown: point, pointerleave: rest, keydown: press, focus, blur: rest };
    Object.entries(heeded).forEach(([event, heed]) => canvas.addEventListener(event, heed));
    return canvas;
  });
  const marks = looks.map(() => box("mark"));
  const panels = looks.map(({ before, name }, k) => box("panel", box("name", before && name),
    box("y-ticks", ...rows.ticks.map(tick("bottom", 0, ny))), box("cells", canvases[k], marks[k]),
    box("x-ticks", ...columns.ticks.map(tick("left", 0, nx)))));
  const named = { role: "group", "aria-labelledby": svg.getAttribute("aria-labelledby") };
  svg.replaceWith(make("div", { class: "hl-pictures", style: axes.shape, ...named },
    box("y-label", axes.ylabel), box("panels", ...panels), box("x-label", axes.xlabel), ...bars.map(colourBar)));
  rest();
  return ({ series, mark = [-1, -1] }) => {
    [shown, pointed] = [looks.map((_, k) => series[k]?.[0] ?? new Float32Array(nx * ny).fill(NaN)), mark];
    canvases.forEach((canvas, k) => fill(canvas, nx, shown[k], bars[looks[k].bar]));
    marks.forEach((element) => surround(element, ...mark));
    if (cursor.isConnected) read(...spot);
  };
}
