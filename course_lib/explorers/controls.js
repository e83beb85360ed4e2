// Labelled native controls and the panel that shows the drawing. Nothing is fetched from anywhere.

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

const builders = {
  Slider: ({ min, max, step }) => make("input", { type: "range", min, max, step }),
  // Numbers with commas, as the pictures write them.
  Choice: ({ options }) => make("select", {}, ...options.map((option) =>
    make("option", { textContent: typeof option === "number" ? option.toLocaleString("en-US") : option }))),
  TextBox: ({ length }) => make("input", { type: "text", maxLength: length, spellcheck: false }),
  Switch: () => make("input", { type: "checkbox" }),
};

const VIEW = "application/vnd.jupyter.widget-view+json";

// A widget does not outlive its kernel: a stored view would show "model not found" where the next reader
// expects a picture or a question. So a saved notebook keeps only what needs no kernel of an output that has both.
function saveWithoutViews(manager) {
  const notebook = manager?.context?.model; // JupyterLab and Notebook 7; other front ends have their own ways
  if (typeof notebook?.toJSON !== "function" || notebook.courseSavesNoViews) return;
  notebook.courseSavesNoViews = true;
  const toJSON = notebook.toJSON;
  notebook.toJSON = function () {
    const saved = structuredClone(toJSON.call(this));
    for (const { data } of saved.cells.flatMap((cell) => cell.outputs ?? []))
      if (data?.["image/png"] || data?.["text/html"]) delete data[VIEW];
    return saved;
  };
}

function showPanel(model, el) {
  const panel = make("div", { className: "course-panel", ariaLive: "polite" });
  const { height } = model.get("settings");
  if (height) panel.style.height = `${height}px`; // fixed, so that the page never jumps
  el.append(panel);
  const update = () => { panel.innerHTML = model.get("value"); };
  model.on("change:value", update);
  update();
}

function showControl(model, el) {
  const kind = model.get("kind");
  const { options } = model.get("settings");
  const input = builders[kind](model.get("settings"));
  if (kind !== "TextBox") {
    // JupyterLab's command mode would take the arrow keys; it is still to see Ctrl+S. Lines of text it leaves alone.
    const shield = (event) => input.toggleAttribute("data-lm-suppress-shortcuts", !(event.ctrlKey || event.metaKey));
    for (const name of ["focus", "keydown", "keyup"]) input.addEventListener(name, shield);
  }
  const output = make("output", {});
  el.classList.add("course-control");
  el.append(make("label", {}, make("span", { textContent: model.get("label") }), input));
  if (kind === "Slider") el.append(output);

  const update = () => {
    const value = model.get("value");
    if (kind === "Switch") input.checked = value;
    else if (kind === "Choice") input.selectedIndex = options.indexOf(value);
    else if (input.value !== String(value)) input.value = value;
    output.textContent = value;
  };
  input.addEventListener("input", () => {
    const value = { Slider: () => Number(input.value), Choice: () => options[input.selectedIndex],
      Switch: () => input.checked, TextBox: () => input.value }[kind]();
    model.set("value", value);
    model.save_changes();
  });
  model.on("change:value", update);
  update();
}

function showAnswers(model, el) {
  const buttons = model.get("settings").options.map((text, place) => {
    const button = make("button", { type: "button", textContent: text });
    button.addEventListener("click", () => { model.set("value", place); model.save_changes(); });
    return button;
  });
  el.classList.add("course-answers");
  el.append(make("fieldset", {}, make("legend", { textContent: model.get("label") }), ...buttons));
  const update = () => buttons.forEach((button, place) => { button.ariaPressed = String(place === model.get("value")); });
  model.on("change:value", update);
  update();
}

const renderers = { Panel: showPanel, Answers: showAnswers };

export default {
  initialize({ model }) { saveWithoutViews(model.widget_manager); },
  render({ model, el }) { (renderers[model.get("kind")] ?? showControl)(model, el); },
};
