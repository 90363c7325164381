// Behind elements.js. Native controls of a model's `value`: each moves one name of it, and `show` puts all of them
// where it stands. Their keys are theirs: JupyterLab keeps its shortcuts away from them.
function controls(model) {
  const shows = [], id = `hl-${Math.random().toString(36).slice(2)}`, ours = { "data-lm-suppress-shortcuts": "true" };
  const move = (change) => { model.set("value", { ...model.get("value"), ...change }); model.save_changes(); };
  function field(name, label, input, read, show) {
    input.id = `${id}-${shows.length}`;
    input.addEventListener("input", () => move({ [name]: read() }));
    shows.push((value) => show(value[name]));
    return [make("label", { for: input.id }, label), input];
  }
  function slider({ name, label, values, texts }) {
    const input = make("input", { type: "range", min: 0, max: values.length - 1, ...ours });
    const output = make("output", { "aria-live": "off" });
    const show = (stop) => {
      const at = values.indexOf(stop);
      [input.value, output.textContent] = [at, texts[at]];
      input.setAttribute("aria-valuetext", output.textContent.replace("−", "minus ").replace("+", "plus "));
    };
    return [...field(name, label, input, () => values[input.value], show), output];
  }
  function tickBox([name, label]) {
    const input = make("input", { type: "checkbox", ...ours });
    return make("span", {}, ...field(name, label, input, () => input.checked, (on) => (input.checked = on)).reverse());
  }
  function choice([name, label, options]) {
    const input = make("select", ours, ...options.map(([, text]) => make("option", {}, text)));
    const show = (stop) => (input.selectedIndex = options.findIndex(([value]) => value === stop));
    return make("span", {}, ...field(name, label, input, () => options[input.selectedIndex][0], show));
  }
  function button(attributes, heed, ...children) {
    const element = make("button", { type: "button", ...ours, ...attributes }, ...children);
    element.addEventListener("click", heed);
    return element;
  }
  function tabs(name, label, texts, panels) { // one panel for each text; value[name] says which is open, by its number
    const all = texts.map((text, k) => {
      const tab = button({ role: "tab", id: `${id}-tab-${k}`, "aria-controls": `${id}-panel-${k}` }, open, text);
      function open() { move({ [name]: k }); tab.focus(); }
      tab.addEventListener("keydown", ({ key }) => {
        const next = { ArrowLeft: k - 1, ArrowRight: k + 1, Home: 0, End: -1 }[key];
        if (next !== undefined) all.at(next % all.length).click();
      });
      const attributes = { role: "tabpanel", id: `${id}-panel-${k}`, "aria-labelledby": tab.id };
      Object.entries(attributes).forEach(([attribute, text]) => panels[k].setAttribute(attribute, text));
      return tab;
    });
    shows.push((value) => all.forEach((tab, k) => {
      tab.setAttribute("aria-selected", k === value[name]);
      [tab.tabIndex, panels[k].hidden] = k === value[name] ? [0, false] : [-1, true];
    }));
    return make("div", { role: "tablist", "aria-label": label }, ...all);
  }
  const show = (value) => shows.forEach((one) => one(value));
  return { id, ours, move, slider, tickBox, choice, button, tabs, show };
}
