// Behind elements.js, lines.js and controls.js. Controls, Train and Stop, and the learning curve that the kernel sends.
function render({ model, el }) {
  const { sliders, choices, axes, caption } = model.get("made"), ui = controls(model);
  const box = (kind, ...children) => make("div", { class: `hl-${kind}` }, ...children);
  const rows = sliders.map(ui.slider), bias = rows[sliders.findIndex(({ name }) => name === "gate_bias")];
  const ask = (what) => () => { // Train carries the controls: a message may be quicker than a slider
    if ((asked || model.get("shown").running) === (what === "train")) return;
    asked = what === "train";
    model.send({ do: what, value: model.get("value") });
    clearTimeout(late);
    late = setTimeout(() => say("Waiting for the kernel: is it running, and done with other cells?"), 2000);
  };
  const train = ui.button({ class: "hl-train" }, ask("train"), "Train"), stop = ui.button({}, ask("stop"), "Stop");
  const reset = ui.button({}, () => ui.move(model.get("start")), "Reset");
  const progress = make("progress", { "aria-label": "progress of the training" }), share = make("span");
  const says = make("p", { class: "hl-says", id: `${ui.id}-says` }), heard = make("p", { role: "status" });
  const svg = make("svg", { role: "img", "aria-labelledby": says.id }), plot = box("plot", svg), legend = make("ul");
  el.replaceChildren(make("section", { class: "hl-explore hl-training", "aria-label": "Training panel" },
    box("choices", ...choices.map(ui.choice)), box("controls", ...rows.flat()),
    box("buttons", train, stop, reset, progress, share), plot, box("below", legend), says, heard,
    make("p", { class: "hl-caption" }, caption)));
  let late, rest, running, asked = false;
  function say(text) {
    says.style.minHeight = `${says.offsetHeight}px`; // a shorter sentence does not pull the page up
    says.textContent = text;
  }
  function follow() { // the controls; without gates there is no bias to choose
    const value = model.get("value"), gates = value.block === "highway";
    ui.show(value);
    bias[1].disabled = !gates;
    if (!gates) bias[2].textContent = "no gates";
  }
  const key = (look) => make("svg", { role: "none" }, coloured(look, line(look, "M0,7H36"), marker(look, "18,7")));
  const paint = (shown = model.get("shown")) =>
    plot.clientWidth && draw(shown, svg, plot.clientWidth, axes, shown.looks);
  function update() {
    const shown = model.get("shown"), percent = `${Math.round((100 * shown.done) / shown.total)} %`;
    clearTimeout(late);
    asked = false;
    [train, stop].forEach((button, k) => button.setAttribute("aria-disabled", shown.running === (k === 0)));
    [progress.max, progress.value, share.textContent] = [shown.total, shown.done, percent];
    legend.style.minHeight = `${legend.offsetHeight}px`; // nor does a shorter legend
    legend.replaceChildren(...shown.looks.map((look) => make("li", {}, key(look), look.name)));
    say(shown.says);
    if (running !== undefined && running !== shown.running) { // announced: that it begins, and how it ended
      clearTimeout(rest);
      rest = setTimeout(() => (heard.textContent = shown.says), 400);
    }
    running = shown.running;
    paint();
  }
  follow();
  update();
  const watch = new ResizeObserver(() => { says.style = legend.style = ""; paint(); });
  watch.observe(plot);
  model.on("change:value", follow);
  model.on("change:shown", update);
  return () => { watch.disconnect(); model.off("change:value", follow); model.off("change:shown", update); };
}

export default { render };
