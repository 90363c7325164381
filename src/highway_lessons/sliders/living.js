// Behind elements.js, controls.js and image.js. A trained highway network, computed where it is read: page or notebook.

// `Highway.forward` of blocks.py, for one point after another; x holds `width` numbers for each. Matrices lie column
// after column. Frozen gates have a constant in the place of x W_T + b_T.
function forward({ W_H, W_T, b_H, b_T }, x, offset, frozen) {
  const width = b_H.length, y = new Float64Array(x.length), gates = new Float64Array(x.length);
  for (let at = 0; at < x.length; at += width) {
    for (let unit = 0; unit < width; unit++) {
      let z_H = b_H[unit], z_T = b_T[unit];
      for (let i = 0; i < width; i++) { // [z_H | z_T] = x [W_H | W_T] + [b_H | b_T]
        z_H += x[at + i] * W_H[width * unit + i];
        z_T += x[at + i] * W_T[width * unit + i];
      }
      if (frozen) z_T = frozen[unit];
      const H = Math.tanh(z_H), T = 1 / (1 + Math.exp(-z_T - offset));
      y[at + unit] = x[at + unit] * (1 - T) + H * T;
      gates[at + unit] = T;
    }
  }
  return [y, gates];
}

function layer({ W, b }, x) { // x W + b
  const n_in = W.length / b.length, z = new Float64Array((x.length / n_in) * b.length);
  for (let k = 0; k < z.length; k++) {
    const unit = k % b.length, at = n_in * Math.floor(k / b.length);
    z[k] = b[unit];
    for (let i = 0; i < n_in; i++) z[k] += x[at + i] * W[n_in * unit + i];
  }
  return z;
}

function passes(net, x, { blocks_off, gates_frozen, gate_bias_offset }) { // a block that is off hands on its input
  const h = [layer(net.input, x).map(Math.tanh)];
  const gates = net.blocks.map((block, k) => {
    const off = blocks_off.includes(k + 1), frozen = gates_frozen && net.frozen[k];
    const [y, T] = off ? [h[k], new Float64Array(h[k].length)] : forward(block, h[k], gate_bias_offset, frozen);
    h.push(y);
    return T;
  });
  return { h, gates };
}

// `answer` of studies/living.py
export function answer(net, x, { read_after, probe, ...taken }, { h, gates } = passes(net, x, taken)) {
  return { logits: layer(probe ? net.probes[read_after] : net.head, h[read_after]), gates };
}

const sure = (logits, k) => Math.tanh((logits[2 * k + 1] - logits[2 * k]) / 2); // p(arm 1) − p(arm 0)

function shown(T, width, unit) { // for each point the gate of one unit, or with 0 the mean over units
  const values = new Float32Array(T.length / width), [from, to] = unit ? [unit - 1, unit] : [0, width];
  for (let k = 0; k < T.length; k++) {
    if (k % width >= from && k % width < to) values[Math.floor(k / width)] += T[k] / (to - from);
  }
  return values;
}

function inWords(value, { depth, twin, toss }, share, points) { // the same in `LivingNet._sentence`
  const { seed, blocks_off: off, gate_bias_offset: offset, read_after } = value;
  const right = `right on ${(100 * share).toFixed(1)} % of ${points} test`; // `_in_percent` in living.py
  const recorded = value.tab && twin.says[value.twin_order][value.twin_number];
  if (recorded) return `Seed ${seed}, ${recorded}: ${right} images, as recorded.`;
  const which = `block${off.length > 1 ? "s" : ""} ${off.join(", ").replace(/, (\d+)$/, " and $1")} off`;
  const parts = [off.length ? (off.length < depth ? which : "all blocks off") : "all blocks on"];
  if (value.gates_frozen) parts.push("gates frozen at their means");
  if (offset) parts.push(`gate biases ${offset > 0 ? "+" : "−"}${Math.abs(offset)}`);
  const reader = value.probe ? "a probe fitted to the whole network" : "the network's own head";
  if (value.probe || read_after < depth) parts.push(`read after block ${read_after} by ${reader}`);
  const away = Math.abs(share - 0.5) <= toss ? "" : share < 0.5 ? "worse than " : "better than ";
  const told = share === 1 ? "all of them" : share >= 0.99 ? "nearly all of them" : `${away}a coin's toss`;
  return `Seed ${seed}, ${parts.join(", ")}: ${right} points, ${told}.`;
}

function inAgreement({ nets, compared: { seed, x, states } }) { // with numbers that Python computed beforehand
  const apart = states.flatMap(([value, theirs]) =>
    Array.from(answer(nets[seed], x, value).logits, (logit, k) => Math.abs(logit - theirs[k])));
  const where = `${states.length} states at ${x.length / 2} points`;
  return `Computed here and in Python, the logits differ by at most ${Math.max(...apart).toExponential(0)} (${where}).`;
}

function render({ model, el }) {
  const made = model.get("made"), { depth, width, side, nets, axes, twin } = made, ui = controls(model);
  const plane = side.flatMap((y) => side.flatMap((x) => [x, y])); // row after row, the lowest first
  const switches = side.slice(0, depth).map((_, k) => {
    const [canvas, mean] = [make("canvas"), make("span")];
    const element = ui.button({ role: "switch" }, () => {
      const off = model.get("value").blocks_off, others = off.filter((block) => block !== k + 1);
      ui.move({ blocks_off: others.length < off.length ? others : [...off, k + 1].sort((a, b) => a - b) });
    }, make("b", {}, k + 1), canvas, mean);
    return { element, canvas, mean };
  });
  const fifty = Array.from({ length: twin ? twin.depth : 0 }, () => make("i")), score = box("score"), line = make("p");
  const reset = ui.button({}, () => ui.move({ ...model.get("start"), tab: model.get("value").tab }), "Reset");
  const says = make("p", { class: "hl-says", id: `${ui.id}-says` }), heard = make("p", { role: "status" });
  const svg = make("svg", { "aria-labelledby": says.id });
  const beside = [box("beside", svg), box("beside", box("fifty", ...fifty))]; // what the accuracy stands beside
  const row = make("div", { class: "hl-blocks", role: "group", "aria-label": "Blocks" });
  row.append(...switches.map(({ element }) => element));
  const panel = ({ sliders, ticks, choices }, plot) => make("div", {}, box("controls", ...sliders.flatMap(ui.slider)),
    box("choices", ...ticks.map(ui.tickBox), ...choices.map(ui.choice)), plot);
  const panels = [panel(made, box("plot", row, beside[0])), ...(twin ? [panel(twin, beside[1])] : [])];
  const parts = twin ? [ui.tabs("tab", "Networks", ["two spirals", "the twin: digits"], panels), ...panels] : panels;
  const [compared, meaning, question] = [inAgreement(made), made.meaning, made.question].map((p) => make("p", {}, p));
  el.replaceChildren(make("figure", { class: "hl-explore hl-living" }, question, ...parts,
    box("below", line, reset), says, heard, meaning, compared, make("figcaption", {}, made.caption)));
  const draw = pictures(svg, line, heard, axes, made.looks, ui.ours);
  const twice = (d, k) => ["casing", `arm-${k}`].map((look) => make("path", { class: `hl-${look}`, d }));
  const arms = make("svg", { class: "hl-arms", viewBox: made.view, role: "none" }, ...made.arms.flatMap(twice));
  el.querySelector(".hl-cells").append(arms);
  let rest, then, passed;
  function update() {
    const value = model.get("value"), { tab, unit, twin_order, twin_number, seed } = value, net = nets[seed];
    const now = JSON.stringify([seed, value.blocks_off, value.gates_frozen, value.gate_bias_offset]);
    if (now !== then) [then, passed] = [now, [plane, net.x].map((x) => passes(net, x, value))]; // to read is quick
    const [{ logits, gates }, test] = [plane, net.x].map((x, k) => answer(net, x, value, passed[k]));
    const points = net.y.length;
    ui.show(value);
    draw({ series: [[Float32Array.from({ length: side.length ** 2 }, (_, k) => sure(logits, k))]] });
    switches.forEach(({ element, canvas, mean }, k) => {
      const off = value.blocks_off.includes(k + 1), means = shown(test.gates[k], width, unit);
      fill(canvas, side.length, shown(gates[k], width, unit), axes.bars[1]);
      mean.textContent = off ? "off" : (means.reduce((sum, T) => sum + T, 0) / points).toFixed(2);
      element.setAttribute("aria-checked", !off);
      element.setAttribute("aria-label", `Block ${k + 1}, ${off ? "" : "mean gate "}${mean.textContent}`);
    });
    fifty.forEach((cell, k) => cell.classList.toggle("hl-off", twin.off[twin_order][twin_number].includes(k + 1)));
    const right = net.y.filter((arm, k) => (sure(test.logits, k) > 0 ? 1 : 0) === arm).length / points;
    const share = tab ? twin.accuracy[seed][twin_order][twin_number] : right;
    score.textContent = `${(100 * share).toFixed(1)} % right`;
    beside[tab].append(score);
    [question, line, compared].forEach((p) => (p.hidden = tab === 1)); // of the spirals alone
    says.textContent = inWords(value, made, share, tab ? twin.images : points);
    clearTimeout(rest); // a sentence is announced once the controls have come to rest, and not before they are touched
    if (arguments.length) rest = setTimeout(() => (heard.textContent = says.textContent), 400);
  }
  update();
  const follow = () => update("moved");
  model.on("change:value", follow);
  return () => model.off("change:value", follow);
}

export function page(el, state) { // the built book: there is nobody to tell
  const heeds = new Set(), set = (name, value) => { state[name] = value; heeds.forEach((heed) => heed()); };
  render({ el, model: { get: (name) => state[name], set, save_changes() {}, on: (_, heed) => heeds.add(heed) } });
}

export default { render };
