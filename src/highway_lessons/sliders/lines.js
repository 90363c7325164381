// Behind elements.js: lines, bands and curves on fixed axes, as SVG.
const path = (kind, d, more = {}) => make("path", { class: `hl-${kind}`, d, ...more });
const line = ({ kind, dash, width }, d) => // dots have none, in the figure and in the legend
  path("line", kind === "dots" ? "" : d, { "stroke-dasharray": dash || "none", "stroke-width": width });
const marker = (look, at, size = 1) => path("marker", look.marker, { transform: `translate(${at}) scale(${size})` });
const words = (text, anchor, x, y, turn = 0) =>
  make("text", { "text-anchor": anchor, transform: `translate(${x},${y}) rotate(${turn})` }, text);
const coloured = (look, ...parts) =>
  make("g", { class: "hl-colour", style: `--light:${look.light};--dark:${look.dark}` }, ...parts);

function stretches(arrays) { // runs of indices at which every array holds a number: a gap ends a run
  const runs = [[]];
  arrays[0].forEach((_, i) => (arrays.some((a) => Number.isNaN(a[i])) ? runs.push([]) : runs.at(-1).push(i)));
  return runs.filter((run) => run.length);
}

function drawSeries(look, arrays, first, X, Y) {
  const runs = stretches(arrays), row = arrays[look.kind === "line" ? 0 : 1], dot = row.length === 1 ? 1.6 : 1;
  const x = (i) => (arrays.length === 2 ? arrays[0][i] : first + i), all = look.kind === "dots" || row.length < 16;
  const at = (y) => (i) => `${X(x(i)).toFixed(1)},${Y(y[i]).toFixed(1)}`;
  const marked = runs.flatMap((run) => run.filter((i) => all || i % (row.length >> 3) === 0 || run.length === 1));
  const area = (run) => `M${[...run.map(at(arrays[0])), ...run.map(at(arrays[2])).reverse()].join("L")}Z`;
  const band = look.kind === "band" ? [path("band", runs.map(area).join(""))] : [];
  const mid = line(look, runs.map((run) => `M${run.map(at(row)).join("L")}`).join(""));
  return coloured(look, ...band, mid, ...marked.map((i) => marker(look, at(row)(i), dot)));
}

function draw({ series }, svg, wide, axes, looks) {
  const { xlim: [x0, x1], ylim: [y0, y1], xticks, yticks } = axes;
  const left = 34 + 7 * Math.max(...yticks.map(([, text]) => text.length)), top = 10;
  let w = wide - left - 14, h = Math.min(Math.max(wide / 2, 240), 330) - 56;
  if (axes.equal) [w, h] = [x1 - x0, y1 - y0].map((side) => side * Math.min(w / (x1 - x0), 340 / (y1 - y0)));
  const X = (x) => left + (w * (x - x0)) / (x1 - x0);
  const Y = (y) => top + (y === -Infinity ? h : Math.min(Math.max(h - (h * (y - y0)) / (y1 - y0), -h), 2 * h));
  const grid = [
    ...xticks.flatMap(([x, text]) => [path("rule", `M${X(x)},${top}v${h}`), words(text, "middle", X(x), top + h + 20)]),
    ...yticks.flatMap(([y, text]) => [path("rule", `M${left},${Y(y)}h${w}`), words(text, "end", left - 7, Y(y) + 4)]),
    words(axes.xlabel, "middle", left + w / 2, top + h + 39), words(axes.ylabel, "middle", 15, top + h / 2, -90),
    path("frame", `M${left},${top}v${h}h${w}`),
  ];
  const box = [left - 7, top - 7, w + 14, h + 14], [x, y, width, height] = box; // lines end at its edges
  const lines = series.map((arrays, k) => drawSeries(looks[k], arrays, axes.first, X, Y));
  svg.style.cssText = `width:${left + w + 14}px;height:${h + 56}px`;
  svg.replaceChildren(...grid, make("svg", { x, y, width, height, viewBox: box.join(" ") }, ...lines));
}
