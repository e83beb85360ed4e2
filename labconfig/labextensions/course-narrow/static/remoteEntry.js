// JupyterLab has no layout for narrow windows, and no setting for one. This extension of it is written by hand:
// what its build would wrap around a plugin is the object at the end.
(() => {
  const narrow = matchMedia("(max-width: 760px)"); // also a wide window at 200 % zoom and more

  function activate(app) {
    const { shell } = app;
    let closed = false; // by us
    const fit = () => {
      if (narrow.matches && !shell.leftCollapsed) [closed] = [true, shell.collapseLeft()];
      else if (!narrow.matches && closed) [closed] = [false, shell.expandLeft()];
    };
    app.restored.then(fit);
    narrow.addEventListener("change", fit);

    // A stored picture keeps its size, as one with letters does that a kernel has just drawn.
    const style = document.createElement("style");
    style.textContent = `@media ${narrow.media} { .jp-RenderedImage img { max-width: none; } }`;
    document.head.append(style);

    // What is wider than its place scrolls there. Tab reaches it, and the arrow keys move it, not the notebook.
    const sizes = new ResizeObserver((entries) => {
      for (const { target } of entries)
        if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
        else target.removeAttribute("tabindex");
    });
    const outputs = () => document.querySelectorAll(".jp-OutputArea-output").forEach((one) => sizes.observe(one));
    new MutationObserver(outputs).observe(document.body, { childList: true, subtree: true });
    window.addEventListener("keydown", (event) => {
      if (event.target.matches?.(".jp-OutputArea-output") && /^Arrow(Left|Right)$/.test(event.key))
        event.stopImmediatePropagation();
    }, true);
  }

  const module = { __esModule: true, default: { id: "course-narrow:plugin", autoStart: true, activate } };
  (window._JUPYTERLAB ??= {})["course-narrow"] = { init() {}, get: async () => () => module };
})();
