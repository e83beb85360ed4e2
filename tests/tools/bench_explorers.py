"""Benchmark: how long a live picture takes to answer, beside the usual way. `python -m tests.tools.bench_explorers`.

In headless Chromium, 40 moves each: pointer to highlight, slider to new picture, and the same slider built with
`interact` and matplotlib. Prints median and 95th percentile in milliseconds, and the ratio.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

import nbformat

from course_lib.authoring.notebooks import METADATA
from tests.support.lab import Lab, Notebook, a_browser

MOVES = 40
OURS = """
import sys
sys.path.insert(0, {course!r})
from course_lib import data
from course_lib.explorers.patches import patch_grid
patch_grid(data.photo(size=64), size=48, patch_size=8, stride=8)
"""
USUAL = """
%matplotlib inline
import matplotlib.pyplot as plt
from ipywidgets import interact, IntSlider
from torch.nn.functional import interpolate

photo = data.photo(size=64)


def draw(stride):
    image = interpolate(photo, size=(48, 48), mode="bilinear", antialias=True).clamp(0, 1)[0].permute(1, 2, 0)
    fig, axes = plt.subplots(figsize=(5, 5))
    axes.imshow(image)
    for y in range(0, 41, stride):
        for x in range(0, 41, stride):
            axes.add_patch(plt.Rectangle((x - 0.5, y - 0.5), 8, 8, fill=False, edgecolor="deepskyblue"))
    plt.show()


interact(draw, stride=IntSlider(min=1, max=16, value=8));
"""
POINT = """([moves]) => {
  const spots = [...document.querySelectorAll('.course-linked [data-panel="image"]')];
  const times = [];
  for (let move = 0; move < moves; move++) {
    const spot = spots[(7 * move + 1) % spots.length];
    const start = performance.now();
    spot.dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
    times.push(performance.now() - start);
    if (!spot.classList.contains("course-lit")) throw new Error("not lit");
  }
  return times;
}"""
SLIDE = """async ([moves]) => {
  const input = [...document.querySelectorAll(".course-control")]
    .find((one) => one.textContent.includes("Stride S")).querySelector("input");
  const panel = document.querySelector(".course-panel");
  const times = [];
  for (let move = 0; move < moves; move++) {
    const start = performance.now();
    const changed = new Promise((done) => {
      const observer = new MutationObserver(() => { observer.disconnect(); done(); });
      observer.observe(panel, { childList: true });
    });
    input.value = 4 + move % 8;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    await changed;
    times.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, 150));
  }
  return times;
}"""
PICTURES = "[...document.querySelectorAll('.jp-OutputArea-output img')].map((image) => image.src).join()"


def slide_the_usual_way(notebook: Notebook) -> list[float]:
    """Milliseconds from a key on ipywidgets' slider to another picture on the page."""
    page, times = notebook.page, []
    page.evaluate(
        """() => {
      window.marks = {};
      document.addEventListener("keydown", () => { window.marks.start = performance.now(); }, true);
      new MutationObserver(() => {
        const shown = PICTURES;
        if (shown !== window.marks.shown && shown) { window.marks.shown = shown; window.marks.end = performance.now(); }
      }).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["src"] });
    }""".replace("PICTURES", PICTURES)
    )
    handle = notebook.cell("usual").locator(".noUi-handle")
    handle.focus()
    for move in range(MOVES):
        before = page.evaluate(PICTURES)
        page.keyboard.press("ArrowRight" if move // 4 % 2 else "ArrowLeft")
        page.wait_for_function(f"(before) => {{ const now = {PICTURES}; return now && now !== before; }}", arg=before)
        times.append(page.evaluate("window.marks.end - window.marks.start"))
        page.wait_for_timeout(150)
    return times


def told(name: str, times: list[float]) -> str:
    late = sorted(times)[int(0.95 * len(times)) - 1]
    return f"{name:38} median {statistics.median(times):8.2f} ms, 95 % within {late:8.2f} ms"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, a_browser() as browser:
        course = str(Path(__file__).resolve().parents[2])
        cells = [("ours", OURS.format(course=course)), ("usual", USUAL)]
        code = [nbformat.v4.new_code_cell(text.strip(), id=name) for name, text in cells]
        made = nbformat.v4.new_notebook(cells=code, metadata=METADATA)  # without, JupyterLab asks for a kernel
        (Path(folder) / "bench.ipynb").write_text(nbformat.writes(made), encoding="utf-8")
        lab = Lab(Path(folder))
        lab.start()
        try:
            notebook = Notebook(lab, browser, "bench.ipynb")
            notebook.run("ours")
            notebook.cell("ours").locator(".course-linked").wait_for()
            point, slide = (notebook.page.evaluate(code, [MOVES]) for code in (POINT, SLIDE))
            notebook.run("usual")
            notebook.cell("usual").locator("img").wait_for()
            usual = slide_the_usual_way(notebook)
        finally:
            lab.stop()
    print(told("pointer to highlight", point))
    print(told("slider to new picture", slide))
    print(told("the same with interact and matplotlib", usual))
    print(f"the usual way takes {statistics.median(usual) / statistics.median(slide):.1f} times as long")


if __name__ == "__main__":
    sys.exit(main())
