// Sliders over a figure. The same lines draw in Jupyter (`render`, called by anywidget) and in the built book (`page`).
// Python sends one frame for each place of the sliders: a sentence, and the numbers to draw (log10 on a log axis).

function render({ model, el }) {
  const [sliders, axes, looks] = ["sliders", "axes", "looks"].map((name) => model.get(name)), seen = new Map();
  const id = `hl-${Math.random().toString(36).slice(2)}`, ours = { "data-lm-suppress-shortcuts": "true" };
  const where = (value) => sliders.map((slider) => slider.values.indexOf(value[slider.name]));
  const move = (value) => { model.set("value", value); model.save_changes(); };
  const controls = sliders.map(({ name, label, values, texts }, k) => {
    const input = make("input", { type: "range", id: `${id}-${k}`, min: 0, max: values.length - 1, ...ours });
    input.addEventListener("input", () => move({ ...model.get("value"), [name]: values[input.value] }));
    const style = `min-width:${Math.max(...texts.map((text) => text.length))}ch`, quiet = { "aria-live": "off" };
    return [make("label", { for: input.id }, label), input, make("output", { for: input.id, style, ...quiet })];
  });
  const reset = make("button", { type: "button", ...ours }, "Reset"), caption = make("figcaption", {}, axes.caption);
  reset.addEventListener("click", () => move(model.get("start")));
  const says = make("p", { class: "hl-says", id: `${id}-says` }), heard = make("p", { role: "status" });
  const svg = make("svg", { role: "img", "aria-labelledby": says.id }), plot = make("div", { class: "hl-plot" }, svg);
  const key = (look) => make("svg", { role: "none" }, coloured(look, line(look, "M0,7H36"), marker(look, "18,7")));
  const above = make("div", { class: "hl-controls" }, ...controls.flat());
  const legend = axes.bars ? make("p") : make("ul", {}, ...looks.map((look) => make("li", {}, key(look), look.name)));
  const below = make("div", { class: "hl-below" }, legend, reset);
  el.replaceChildren(make("figure", { class: "hl-explore" }, above, plot, below, says, heard, caption));
  let shown, late, rest;
  const show = axes.bars ? pictures(svg, legend, heard, axes, looks, ours) : draw;
  const paint = () => shown && plot.clientWidth && show(shown, svg, plot.clientWidth, axes, looks);
  const silent = () => (says.textContent = heard.textContent = "Waiting for the kernel: is it running?");
  function update() { // put the sliders where `value` is; show the frame there, or wait for the kernel to compute it
    const at = where(model.get("value")), frame = model.get("frame"), came = where(frame.value).join();
    const Floats = frame.bytes === 8 ? Float64Array : Float32Array;
    const floats = (view) => new Floats(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
    if (!seen.has(came)) seen.set(came, { ...frame, series: frame.arrays.map((s) => s.map(floats)) });
    const next = seen.get(at.join());
    if (frame.failed) seen.delete(came); // so that the next visit asks again
    controls.forEach(([, input, output], k) => {
      [input.value, output.textContent] = [at[k], sliders[k].texts[at[k]]];
      input.setAttribute("aria-valuetext", output.textContent.replace("−", "minus "));
    });
    [late, rest].forEach(clearTimeout); // a sentence is announced once the sliders have come to rest
    plot.classList.toggle("hl-waiting", !next);
    says.style.minHeight = `${says.offsetHeight}px`; // a shorter sentence does not pull the page up
    if (!next) { late = setTimeout(silent, 2000); return; }
    if (shown && heard.textContent !== next.says) rest = setTimeout(() => (heard.textContent = next.says), 400);
    [shown, says.textContent] = [next, next.says];
    paint();
  }
  update();
  const watch = new ResizeObserver(() => { says.style = ""; paint(); }), events = ["change:value", "change:frame"];
  watch.observe(plot);
  events.forEach((event) => model.on(event, update));
  return () => { watch.disconnect(); events.forEach((event) => model.off(event, update)); };
}

export function page(el, state) { // the built book: all frames are in the page, and `set` answers as a kernel does
  const text = atob(state.data), data = new Uint8Array(text.length), listeners = new Set();
  for (let i = 0; i < text.length; i++) data[i] = text.charCodeAt(i);
  const view = ([from, count]) => new DataView(data.buffer, from * state.bytes, count * state.bytes);
  const set = (_, value) => {
    const place = state.sliders.reduce((n, s) => n * s.values.length + s.values.indexOf(value[s.name]), 0);
    const [says, series, mark] = state.frames[place], arrays = series.map((one) => one.map(view)), { bytes } = state;
    Object.assign(state, { value, frame: { value, says, bytes, arrays, mark } });
    for (const listener of listeners) listener();
  };
  set("value", state.value);
  render({ el, model: { get: (name) => state[name], set, save_changes() {}, on: (_, f) => listeners.add(f) } });
}

export default { render };
