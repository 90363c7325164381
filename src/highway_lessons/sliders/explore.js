// Sliders over a figure. The same lines draw in Jupyter (`render`, through anywidget) and in the built book (`page`).
// Python sends one frame for each place of the sliders: a sentence, and the numbers to draw (log10 on a log axis).

function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "text", "clipPath", "rect"].includes(tag);
  const element = document.createElementNS(`http://www.w3.org/${svg ? "2000/svg" : "1999/xhtml"}`, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const stroke = (look, d) => make("path", { d, class: "hl-line", "stroke-dasharray": look.dash || "none", "stroke-width": look.width });
const marker = (look, at, size = 1) => make("path", { d: look.marker, class: "hl-marker", transform: `translate(${at}) scale(${size})` });
const coloured = (look, ...parts) => make("g", { class: "hl-colour", style: `--light:${look.light};--dark:${look.dark}` }, ...parts);
const words = (x, y, anchor, text) => make("text", { x, y, "text-anchor": anchor }, text);

function stretches(arrays) { // runs of indices at which every array holds a number: a gap ends a run
  const runs = [[]];
  arrays[0].forEach((_, i) => (arrays.some((array) => Number.isNaN(array[i])) ? runs.push([]) : runs.at(-1).push(i)));
  return runs.filter((run) => run.length);
}

function drawSeries(look, arrays, first, X, Y) {
  const mid = arrays[look.kind === "line" ? 0 : 1], runs = stretches(arrays);
  const at = (i, row = mid) => `${X(look.kind === "curve" ? arrays[0][i] : first + i).toFixed(1)},${Y(row[i]).toFixed(1)}`;
  const edge = (run, row) => run.map((i) => at(i, row)).join("L");
  const area = (run) => `M${edge(run, arrays[0])}L${edge([...run].reverse(), arrays[2])}Z`;
  const step = Math.max(1, Math.floor(mid.length / 8)), size = mid.length === 1 ? 1.6 : 1;
  const marked = runs.flatMap((run) => run.filter((i) => i % step === 0 || run.length === 1));
  return coloured(look, make("path", { class: "hl-band", d: look.kind === "band" ? runs.map(area).join("") : "" }),
    stroke(look, runs.map((run) => `M${edge(run, mid)}`).join("")), ...marked.map((i) => marker(look, at(i), size)));
}

function draw(svg, axes, looks, series, id) {
  const { xlim: [x0, x1], ylim: [y0, y1], xticks, yticks } = axes, wide = Math.max(svg.parentNode.clientWidth, 240);
  const left = 34 + 7 * Math.max(...yticks.map(([, text]) => text.length)), top = 10;
  let w = wide - left - 14, h = Math.min(Math.max(wide / 2, 240), 330) - 54;
  if (axes.equal) {
    const unit = Math.min(w / (x1 - x0), 340 / (y1 - y0));
    [w, h] = [unit * (x1 - x0), unit * (y1 - y0)];
  }
  const X = (x) => left + (w * (x - x0)) / (x1 - x0);
  const Y = (y) => top + Math.min(Math.max(h - (h * (y - y0)) / (y1 - y0), -h), y === -Infinity ? h : 2 * h); // log 0: floor
  const clip = make("clipPath", { id }, make("rect", { x: left - 7, y: top - 7, width: w + 14, height: h + 14 }));
  const ylabel = words(0, 0, "middle", axes.ylabel);
  ylabel.setAttribute("transform", `translate(15,${top + h / 2}) rotate(-90)`);
  const grid = make("g", { class: "hl-grid" }, ylabel, words(left + w / 2, top + h + 37, "middle", axes.xlabel),
    ...xticks.flatMap(([x, text]) => [make("path", { d: `M${X(x)},${top}v${h}` }), words(X(x), top + h + 18, "middle", text)]),
    ...yticks.flatMap(([y, text]) => [make("path", { d: `M${left},${Y(y)}h${w}` }), words(left - 7, Y(y) + 4, "end", text)]),
    make("path", { d: `M${left},${top}v${h}h${w}`, class: "hl-frame" }));
  svg.setAttribute("width", wide);
  svg.setAttribute("height", h + 54);
  const lines = series.map((arrays, k) => drawSeries(looks[k], arrays, axes.first, X, Y));
  svg.replaceChildren(clip, grid, make("g", { "clip-path": `url(#${id})` }, ...lines));
}

function render({ model, el }) {
  const [sliders, axes, looks] = ["sliders", "axes", "looks"].map((name) => model.get(name)), seen = new Map();
  const id = "hl-" + Math.random().toString(36).slice(2, 9), focusable = { "data-lm-suppress-shortcuts": "true" };
  const where = (value) => sliders.map((slider) => slider.values.indexOf(value[slider.name]));
  const move = (value) => { model.set("value", value); model.save_changes(); };
  const inputs = sliders.map((slider, k) => {
    const range = { type: "range", id: `${id}-${k}`, min: 0, max: slider.values.length - 1, ...focusable };
    const input = make("input", range);
    input.addEventListener("input", () => move({ ...model.get("value"), [slider.name]: slider.values[input.value] }));
    return input;
  });
  const outputs = inputs.map((input) => make("output", { for: input.id }));
  const labels = sliders.map((slider, k) => make("label", { for: `${id}-${k}` }, slider.label));
  const reset = make("button", { type: "button", ...focusable }, "Reset");
  reset.addEventListener("click", () => move(model.get("start")));
  const svg = make("svg", { role: "img", "aria-labelledby": `${id}-says` }), plot = make("div", { class: "hl-plot" }, svg);
  const says = make("p", { role: "status", id: `${id}-says` });
  const sample = (look) => make("svg", { width: 36, height: 14, "aria-hidden": "true" },
    coloured(look, stroke(look, "M0,7H36"), marker(look, "18,7")));
  const legend = make("ul", { class: "hl-legend" }, ...looks.map((look) => make("li", {}, sample(look), look.name)));
  const figure = make("figure", { class: "hl-explore" },
    make("div", { class: "hl-controls" }, ...sliders.flatMap((_, k) => [labels[k], inputs[k], outputs[k]])), plot,
    make("div", { class: "hl-below" }, legend, reset), says, make("figcaption", {}, axes.caption));
  let shown, late;

  function paint() {
    if (shown && plot.clientWidth) draw(svg, axes, looks, shown.series, `${id}-clip`);
  }

  function update() { // put the sliders where `value` is; show the frame there, or wait until the kernel has computed it
    const at = where(model.get("value")), frame = model.get("frame"), came = where(frame.value).join();
    const Floats = frame.bytes === 8 ? Float64Array : Float32Array;
    const floats = (view) => new Floats(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
    if (!seen.has(came)) seen.set(came, { says: frame.says, series: frame.arrays.map((arrays) => arrays.map(floats)) });
    const next = seen.get(at.join());
    if (frame.failed) seen.delete(came); // so that the next visit asks again
    sliders.forEach((slider, k) => {
      [inputs[k].value, outputs[k].textContent] = [at[k], slider.texts[at[k]]];
      inputs[k].setAttribute("aria-valuetext", slider.texts[at[k]].replace("−", "minus "));
    });
    clearTimeout(late);
    figure.classList.toggle("hl-waiting", !next);
    if (!next) late = setTimeout(() => (says.textContent = "Waiting for the kernel: is it running?"), 2000);
    if (!next || next === shown) return;
    shown = next;
    says.textContent = shown.says;
    paint();
  }

  const watch = new ResizeObserver(paint), events = ["change:value", "change:frame"];
  el.replaceChildren(figure);
  watch.observe(plot);
  for (const event of events) model.on(event, update);
  update();
  return () => {
    watch.disconnect();
    clearTimeout(late);
    for (const event of events) model.off(event, update);
  };
}

export function page(el, state) { // the built book: all frames are in the page, and this model answers as a kernel does
  const data = Uint8Array.from(atob(state.data), (c) => c.charCodeAt(0)).buffer, listeners = new Set();
  const view = ([from, count]) => new DataView(data, from * state.bytes, count * state.bytes);
  const number = () => state.sliders.reduce((n, s) => n * s.values.length + s.values.indexOf(state.value[s.name]), 0);
  const get = (name) => (name === "frame" ? frame() : state[name]);
  const frame = () => {
    const [says, arrays] = state.frames[number()];
    return { value: state.value, says, bytes: state.bytes, arrays: arrays.map((series) => series.map(view)) };
  };
  const set = (name, value) => { state[name] = value; };
  const model = { get, set, save_changes: () => listeners.forEach((f) => f()), on: (_, f) => listeners.add(f), off() {} };
  render({ model, el });
}

export default { render };
