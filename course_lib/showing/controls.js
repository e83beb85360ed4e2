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

// The letters of the pictures come with every panel, and are needed once in a page.
function bring(fonts) {
  if (document.fonts.courseLetters) return;
  document.fonts.courseLetters = true;
  for (const [family, weight, data] of fonts) document.fonts.add(new FontFace(family, data, { weight }));
}

// JupyterLab's command mode would take the keys of an element; it is still to see Ctrl+S.
function keepKeys(element) {
  const keep = (event) => element.toggleAttribute("data-lm-suppress-shortcuts", !(event.ctrlKey || event.metaKey));
  for (const name of ["focus", "keydown", "keyup"]) element.addEventListener(name, keep);
}

// In a narrow window a panel scrolls sideways; only then can it be reached with Tab, and the arrow keys move it.
function scrollByKeyboard(panel) {
  keepKeys(panel);
  new ResizeObserver(() => {
    if (panel.scrollWidth > panel.clientWidth) Object.assign(panel, { tabIndex: 0, role: "group", ariaLabel: WIDE });
    else for (const name of ["tabindex", "role", "aria-label"]) panel.removeAttribute(name);
  }).observe(panel);
}

function showPanel(model, el) {
  const { width, height, least, linked, fonts } = model.get("settings");
  const frame = make("div", { className: "course-frame" });
  const panel = make("div", { className: "course-panel" }, frame);
  if (height) {
    bring(fonts);
    panel.classList.add("course-drawn");
    frame.style.minWidth = `${least}px`;
    // As high as the first drawing is in the width that there is: the page never jumps, and has no gap.
    frame.style.height = `calc(min(${width}px, max(100cqw, ${least}px)) * ${height / width})`;
    scrollByKeyboard(panel);
  }
  el.append(panel);
  const words = make("p", { className: "course-says", ariaLive: "polite" });
  if (linked) el.append(words);
  else panel.ariaLive = "polite";
  let pointed = null; // what was pointed at stays so when a slider brings a new drawing
  const update = () => {
    frame.innerHTML = model.get("value");
    const drawing = frame.querySelector(".course-linked");
    if (drawing) link(drawing, words, pointed, (spot) => { pointed = spot; });
  };
  model.on("change:value", update);
  update();
}

const HINT = "Point at the picture, or press Tab and use the arrow keys: what belongs together lights up.";
const WIDE = "Picture wider than the window. Arrow keys scroll.";
const HELP = "Linked picture. Arrow keys move, Page Down goes to the next part, Escape clears.";

// What belongs together lights up, answered here without asking the kernel. Which spots there are, what they say
// and what else lights up with them is data of the drawing; nothing here knows of patches or words.
function link(drawing, words, before, keep) {
  const { spots, says, lights } = JSON.parse(drawing.dataset.links);
  const svg = drawing.querySelector("svg");
  const byName = new Map();
  const byRect = new Map();
  const talking = []; // spots that can be pointed at
  for (const [panel, name, x, y, w, h] of spots) {
    const rect = document.createElementNS(svg.namespaceURI, "rect");
    const talks = Object.hasOwn(says, name);
    const attributes = { x, y, width: w, height: h, class: talks ? "course-spot" : "course-spot course-mute",
      "data-panel": panel, "data-name": name };
    for (const [key, value] of Object.entries(attributes)) rect.setAttribute(key, value);
    svg.append(rect);
    if (!byName.has(name)) byName.set(name, []);
    byName.get(name).push(rect);
    const spot = { panel, name, rect, x: x + w / 2, y: y + h / 2 };
    byRect.set(rect, spot);
    if (talks) talking.push(spot);
  }
  let lit = [];
  let current = null;

  const show = (spot) => {
    if (spot === current) return;
    for (const rect of lit) rect.classList.remove("course-lit", "course-here");
    current = spot;
    keep(spot);
    lit = spot ? [spot.name, ...(lights[spot.name] ?? [])].flatMap((name) => byName.get(name) ?? []) : [];
    for (const rect of lit) rect.classList.add("course-lit");
    spot?.rect.classList.add("course-here");
    words.textContent = spot ? says[spot.name] : HINT;
  };

  // The nearest spot of the same panel in a direction; one that lies aside counts as further away.
  const next = (dx, dy) => {
    let best = null;
    let least = Infinity;
    for (const spot of talking) {
      const [x, y] = [spot.x - current.x, spot.y - current.y];
      const ahead = x * dx + y * dy;
      const distance = ahead + 3 * Math.abs(x * dy - y * dx);
      if (spot.panel === current.panel && ahead > 0.5 && distance < least) [best, least] = [spot, distance];
    }
    return best ?? current;
  };
  const panels = [...new Set(talking.map(({ panel }) => panel))];
  const inPanel = (step) => {
    const panel = panels[(panels.indexOf(current.panel) + step + panels.length) % panels.length];
    const there = talking.filter((spot) => spot.panel === panel);
    return there.find(({ name }) => name === current.name) ?? there[0];
  };
  const keys = {
    ArrowLeft: () => next(-1, 0), ArrowRight: () => next(1, 0), ArrowUp: () => next(0, -1), ArrowDown: () => next(0, 1),
    PageDown: () => inPanel(1), PageUp: () => inPanel(-1), Escape: () => null,
  };

  svg.addEventListener("pointermove", ({ target }) => {
    const spot = byRect.get(target);
    if (spot) show(spot);
  });
  Object.assign(drawing, { tabIndex: 0, ariaLabel: HELP });
  drawing.setAttribute("role", "application");
  keepKeys(drawing);
  drawing.addEventListener("focus", () => { if (!current) show(talking[0]); });
  drawing.addEventListener("keydown", (event) => {
    const go = Object.hasOwn(keys, event.key) && !event.ctrlKey && !event.metaKey && !event.altKey && keys[event.key];
    if (!go) return;
    event.preventDefault();
    event.stopPropagation();
    show(current || event.key === "Escape" ? go() : talking[0]);
    current?.rect.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  words.textContent = HINT;
  if (before) show(talking.find(({ panel, name }) => panel === before.panel && name === before.name) ?? null);
}

function showControl(model, el) {
  const kind = model.get("kind");
  const { options } = model.get("settings");
  const input = builders[kind](model.get("settings"));
  if (kind !== "TextBox") keepKeys(input); // lines of text JupyterLab leaves alone
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

function showButtons(model, el) {
  const { options, name, code } = model.get("settings");
  let presses = 0;
  const buttons = options.map((text, place) => {
    const button = make("button", { type: "button", textContent: text });
    button.addEventListener("click", () => { model.set("value", [place, ++presses]); model.save_changes(); });
    return button;
  });
  if (changedSince(model, name, code)) el.append(make("p", { className: "course-changed", textContent:
    `The cell with ${name} on this page is not the one that was checked: it was changed after it was run. ` +
    "Run it, and then the check again." }));
  el.classList.add("course-answers", "course-row");
  el.append(make("div", { role: "group", ariaLabel: model.get("label") }, ...buttons));
}

// Only the page knows what stands in a cell that has not been run. Where it cannot be read, nothing is said.
function changedSince(model, name, code) {
  const cells = model.widget_manager?.context?.model?.cells;
  if (!code || typeof cells?.[Symbol.iterator] !== "function") return false;
  const begins = new RegExp(`^(?:def|class) ${name}\\b`, "m");
  const sources = [...cells].map((cell) => cell.sharedModel?.getSource?.() ?? "").filter((source) => begins.test(source));
  return sources.length > 0 && !sources.some((source) => source.trim() === code.trim());
}

const renderers = { Panel: showPanel, Answers: showAnswers, Buttons: showButtons };

export default {
  initialize({ model }) { saveWithoutViews(model.widget_manager); },
  render({ model, el }) { (renderers[model.get("kind")] ?? showControl)(model, el); },
};
