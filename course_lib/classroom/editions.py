"""The solved edition of the lessons, and pages to hand out."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from course_lib import COURSE
from course_lib.classroom.places import ClassError, browser, chosen_lessons, free, naming, written
from course_lib.exercises import all_exercises
from course_lib.setup.printable import printable
from course_lib.showing.fonts import MONO, SANS, font_faces

# Over what JupyterLab's style says, which names fonts of the system.
FONTS = f"""
:root {{
  --jp-content-font-family: {SANS}, sans-serif; --jp-ui-font-family: {SANS}, sans-serif;
  --jp-code-font-family: {MONO}, monospace; --jp-cell-prompt-font-family: {MONO}, monospace;
  text-rendering: geometricPrecision;
}}
"""


def solved_edition(folder: Path, only: list[str], force: bool) -> list[Path]:
    """Write each lesson with its exercises filled in, run, outputs stored; the paths written.

    ClassError for a lesson that does not exist or is damaged, files that are there, and where a check does not pass.
    """
    from course_lib.authoring.notebooks import NotebookError, clean, dumps, run, solved

    chosen = chosen_lessons(only)
    if folder.resolve() == (COURSE / "notebooks").resolve():
        raise ClassError("that folder holds the lessons themselves: choose another one")
    targets = [folder / path.name for path in chosen]
    free(targets, force)
    with written(folder):
        for (path, notebook), target in zip(chosen.items(), targets, strict=True):
            with naming(path):
                filled = solved(notebook)
            try:
                made = clean(run(filled, path))
            except NotebookError as error:
                raise ClassError(str(error)) from error
            _check_passed(made, path)
            target.write_text(dumps(made), encoding="utf-8")
            print(printable(target), flush=True)
    return targets


def _check_passed(notebook: Any, path: Path) -> None:
    """ClassError where a check of a lesson that was solved did not say "correct"."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = "\n".join(output.get("data", {}).get("text/plain", "") for output in outputs)
    lesson = [one.name for one in all_exercises().values() if one.lesson == path.name[:2]]
    wrong = [name for name in lesson if f"{name}: correct on " not in shown]
    if wrong:
        raise ClassError(f"{path.name}: the solution of {', '.join(wrong)} does not pass its check")


def handout(folder: Path, only: list[str], force: bool, pdf: bool = False) -> list[Path]:
    """Write each lesson, and the glossary, as a page that holds its pictures and their texts; the pages written.

    ClassError for a lesson that does not exist or is damaged, for files that are there, and where no browser can print.
    """
    import nbformat

    glossary = (COURSE / "notebooks" / "glossary.md").read_text(encoding="utf-8")
    sources = {path.stem: notebook for path, notebook in chosen_lessons(only).items()}
    sources["glossary"] = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(glossary)])
    targets = [folder / f"{name}.html" for name in sources]
    free(targets + [target.with_suffix(".pdf") for target in targets if pdf], force)
    printer = browser() if pdf else ""
    with written(folder):
        for notebook, target in zip(sources.values(), targets, strict=True):
            target.write_text(page(notebook, target.stem), encoding="utf-8")
            print(printable(target), flush=True)
            if pdf:
                _print(printer, target)
    return targets


def page(notebook: Any, title: str) -> str:
    """A notebook as HTML: pictures with their texts, fonts, links to the other pages, nothing from the network."""
    from bs4 import BeautifulSoup
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(template_name="lab", embed_images=True)
    exporter.mathjax_url = exporter.require_js_url = exporter.jquery_url = ""  # the lessons need none of them
    body, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title}})
    soup = BeautifulSoup(body, "html.parser")
    for script in soup.find_all("script"):
        script.decompose()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = [output.data["text/plain"] for output in outputs if "image/png" in output.get("data", {})]
    images = [image for image in soup.find_all("img") if str(image["src"]).startswith("data:image/png")]
    for image, text in zip(images, texts, strict=True):
        image["alt"] = text
    for link in soup.find_all("a", href=True):
        link["href"] = re.sub(r"^([\w-]+)\.(?:ipynb|md)(?=#|$)", r"\1.html", str(link["href"]))
    assert soup.body and soup.head  # nbconvert's template has both
    style = soup.new_tag("style")
    style.string = font_faces(soup.body.get_text()) + FONTS
    soup.head.append(style)
    return str(soup)


def _print(printer: str, target: Path) -> None:
    made = target.with_suffix(".pdf").resolve()
    options = ["--headless", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={made}"]
    if hasattr(os, "getuid") and os.getuid() == 0:
        options.append("--no-sandbox")  # which Chromium asks of root
    done = subprocess.run([printer, *options, target.resolve().as_uri()], capture_output=True, text=True, timeout=120)
    if done.returncode or not made.exists():
        raise ClassError(f"{printer} did not print {target.name}: {done.stderr.strip().splitlines()[-1:]}")
    print(printable(made), flush=True)
