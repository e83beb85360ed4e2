"""For teachers: the solved edition, pages to hand out, and an overview of a class from its learners' records.

    python3 -m course_lib class solved DIR               every exercise filled in and run
    python3 -m course_lib class handout DIR              each lesson as a page that needs no kernel and no network
    python3 -m course_lib class overview FILES…          who solved what, and which mistakes were met how often
    python3 -m course_lib class overview FILES… --csv CLASS.csv

A record is a learner's .progress/events.jsonl, copied under a name that tells the teacher whose it is. It holds
names of exercises and of mistakes, no code and no names of people.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from course_lib import COURSE, progress
from course_lib.exercises import all_exercises

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "chrome")
STUCK_AFTER = 3  # failed checks of one exercise without a passed one


class ClassError(Exception):
    """What is wrong and what to do about it, in one line for the teacher."""


def main(arguments: list[str]) -> int:
    """Run one command of a teacher; 0 if it worked, 1 with a line on stderr if not."""
    parser = argparse.ArgumentParser(
        prog="python3 -m course_lib class", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    make = commands.add_parser("solved", help="fill in every exercise, run the lessons, store them in DIR")
    hand = commands.add_parser("handout", help="store each lesson in DIR as a page of HTML that holds everything")
    hand.add_argument("--pdf", action="store_true", help="as PDF too; needs Chromium, Chrome or Edge")
    for one in (make, hand):
        one.add_argument("folder", metavar="DIR")
        one.add_argument("--only", nargs="+", metavar="NN", default=[], help="numbers of lessons, such as 04 05")
        one.add_argument("--force", action="store_true", help="replace files that are there")
    show = commands.add_parser("overview", help="a table of the class from records of progress")
    show.add_argument("files", nargs="+", metavar="FILE")
    show.add_argument("--csv", metavar="FILE", help="write the table there as well")
    show.add_argument("--force", action="store_true", help="replace a table that is there")
    given = parser.parse_args(arguments)
    try:
        if given.command == "solved":
            solved_edition(_place(given.folder), given.only, given.force)
        elif given.command == "handout":
            handout(_place(given.folder), given.only, given.force, given.pdf)
        else:
            overview([_place(name) for name in given.files], given.csv and _place(given.csv), given.force)
    except ClassError as error:
        print(f"This did not work: {error}", file=sys.stderr)
        return 1
    return 0


def _place(name: str) -> Path:
    """A path as it was meant where the command was given."""
    return Path(os.environ.get("COURSE_STARTED_IN", ".")) / name


def _free(paths: list[Path], force: bool) -> None:
    """ClassError where a file would be replaced without being asked to."""
    there = [path.name for path in paths if path.exists()]
    if there and not force:
        raise ClassError(f"{', '.join(there)} in {paths[0].parent} would be replaced: choose another place, or --force")


def _lessons(only: list[str]) -> list[Path]:
    """The notebooks with these numbers, or all; ClassError for a number that no lesson has."""
    lessons = sorted((COURSE / "notebooks").glob("*.ipynb"))
    unknown = set(only) - {path.name[:2] for path in lessons}
    if unknown:
        raise ClassError(f"there is no lesson {', '.join(sorted(unknown))}: they are 00 to {lessons[-1].name[:2]}")
    return [path for path in lessons if not only or path.name[:2] in only]


# ---------------------------------------------------------------- the solved edition


def solved_edition(folder: Path, only: list[str], force: bool) -> list[Path]:
    """Write each lesson with its exercises filled in, run, outputs stored; the paths written.

    ClassError for a lesson that does not exist, for files that are there, and where a check does not pass.
    """
    import nbformat

    from course_lib.notebooks import NotebookError, clean, dumps, run, solved

    chosen = _lessons(only)
    if folder.resolve() == (COURSE / "notebooks").resolve():
        raise ClassError("that folder holds the lessons themselves: choose another one")
    targets = [folder / path.name for path in chosen]
    _free(targets, force)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, target in zip(chosen, targets, strict=True):
            made = clean(run(solved(nbformat.read(path, as_version=4)), path))
            _check_passed(made, path)
            target.write_text(dumps(made), encoding="utf-8")
            print(f"{target}", flush=True)
    except NotebookError as error:
        raise ClassError(str(error)) from error
    except OSError as error:
        raise ClassError(f"{folder} cannot be written to ({error.strerror})") from error
    return targets


def _check_passed(notebook: Any, path: Path) -> None:
    """ClassError where a check of a lesson that was solved did not say "correct"."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = "\n".join(output.get("data", {}).get("text/plain", "") for output in outputs)
    lesson = [one.name for one in all_exercises().values() if one.lesson == path.name[:2]]
    wrong = [name for name in lesson if f"{name}: correct on " not in shown]
    if wrong:
        raise ClassError(f"{path.name}: the solution of {', '.join(wrong)} does not pass its check")


# ---------------------------------------------------------------- pages to hand out


def handout(folder: Path, only: list[str], force: bool, pdf: bool = False) -> list[Path]:
    """Write each lesson, and the glossary, as a page that holds its pictures and their texts; the pages written.

    ClassError for a lesson that does not exist, for files that are there, and where no browser can print.
    """
    import nbformat

    glossary = (COURSE / "notebooks" / "glossary.md").read_text(encoding="utf-8")
    sources = {path.stem: nbformat.read(path, as_version=4) for path in _lessons(only)}
    sources["glossary"] = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(glossary)])
    targets = [folder / f"{name}.html" for name in sources]
    _free(targets + [target.with_suffix(".pdf") for target in targets if pdf], force)
    browser = _browser() if pdf else ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for notebook, target in zip(sources.values(), targets, strict=True):
            target.write_text(page(notebook, target.stem), encoding="utf-8")
            print(f"{target}", flush=True)
            if pdf:
                _print(browser, target)
    except OSError as error:
        raise ClassError(f"{folder} cannot be written to ({error.strerror})") from error
    return targets


def page(notebook: Any, title: str) -> str:
    """A notebook as HTML: pictures with their texts, links to the other pages, nothing from the network."""
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
    images = [image for image in soup.find_all("img") if image["src"].startswith("data:image/png")]
    for image, text in zip(images, texts, strict=True):
        image["alt"] = text
    for link in soup.find_all("a", href=True):
        link["href"] = re.sub(r"^([\w-]+)\.(?:ipynb|md)(?=#|$)", r"\1.html", link["href"])
    return str(soup)


def _browser() -> str:
    """The program of an installed browser that prints pages; ClassError where there is none."""
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        raise ClassError("no Chromium, Chrome or Edge was found to print with: leave out --pdf, and print the pages")
    return found


def _print(browser: str, target: Path) -> None:
    made = target.with_suffix(".pdf").resolve()
    options = ["--headless", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={made}"]
    if hasattr(os, "getuid") and os.getuid() == 0:
        options.append("--no-sandbox")  # which Chromium asks of root
    done = subprocess.run([browser, *options, target.resolve().as_uri()], capture_output=True, text=True, timeout=120)
    if done.returncode or not made.exists():
        raise ClassError(f"{browser} did not print {target.name}: {done.stderr.strip().splitlines()[-1:]}")
    print(f"{made}", flush=True)


# ---------------------------------------------------------------- the overview of a class


@dataclass
class Work:
    """What one learner did on one exercise: checks, whether one passed, minutes from the first check to the last
    one before it passed, hints taken, and the mistakes that were named."""

    checks: int = 0
    passed: bool = False
    minutes: float = 0.0
    hints: int = 0
    mistakes: Counter = field(default_factory=Counter)

    @property
    def stuck(self) -> bool:
        return not self.passed and self.checks >= STUCK_AFTER

    def __str__(self) -> str:
        if not self.checks:
            return "-"
        return f"{'solved' if self.passed else 'stuck' if self.stuck else 'open'} {self.checks}"


def read_record(path: Path) -> dict[str, Work]:
    """A learner's work by exercise; ClassError where the file is missing or holds no record."""
    if not path.is_file():
        raise ClassError(f"there is no file {path}: a record is .progress/events.jsonl in a learner's course folder")
    work: dict[str, Work] = {}
    first: dict[str, datetime] = {}
    read = 0
    for event in progress.events(path):
        read += 1
        name = event["name"]
        if event["kind"] not in ("check", "hint") or name not in all_exercises():
            continue
        done = work.setdefault(name, Work())
        if event["kind"] == "hint":
            done.hints += 1
        elif not done.passed:  # what comes after the first pass is practice
            done.checks += 1
            done.passed = event.get("passed") is True
            if isinstance(event.get("diagnosis"), str):
                done.mistakes[event["diagnosis"]] += 1
            when = _time(event)
            if when is not None:
                first.setdefault(name, when)
                done.minutes = round((when - first[name]).total_seconds() / 60, 1)
    if not read and path.stat().st_size:
        raise ClassError(f"{path} is no record of progress: not one line of it can be read")
    return work


def _time(event: dict) -> datetime | None:
    try:
        when = datetime.fromisoformat(str(event.get("time")))
    except ValueError:
        return None
    return when if when.tzinfo else None


def overview(files: list[Path], table: Path | None, force: bool) -> None:
    """Print who solved what, who is stuck, and the mistakes met; write the table as CSV where asked."""
    if table is not None:
        _free([table], force)
    names = [path.parent.name if path.name == "events.jsonl" else path.stem for path in files]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ClassError(f"two records are called {', '.join(twice)}: give each file the name of its learner")
    learners = {name: read_record(path) for name, path in zip(names, files, strict=True)}
    exercises = [name for name in all_exercises() if any(name in work for work in learners.values())]
    if not exercises:
        print("No exercise was checked yet.")
        return
    wide, column = max(map(len, exercises)), max(9, *map(len, learners))
    print(f"{'':{wide}}  " + "  ".join(f"{name:>{column}}" for name in learners))
    for exercise in exercises:
        row = [str(work.get(exercise, Work())) for work in learners.values()]
        print(f"{exercise:{wide}}  " + "  ".join(f"{text:>{column}}" for text in row))
    stuck = [f"{name} at {one}" for name, work in learners.items() for one, done in work.items() if done.stuck]
    print(f"\nstuck ({STUCK_AFTER} checks or more, none passed): {', '.join(stuck) or 'nobody'}")
    print("mistakes met most often:")
    met = Counter()
    for work in learners.values():
        met.update({(name, mistake): count for name, done in work.items() for mistake, count in done.mistakes.items()})
    for (exercise, mistake), count in sorted(met.items(), key=lambda item: (-item[1], item[0]))[:10]:
        print(f"  {count:3} × {exercise}: {mistake}")
    if table is not None:
        _write_table(table, learners, exercises)


def _write_table(table: Path, learners: dict[str, dict[str, Work]], exercises: list[str]) -> None:
    """A line for each learner and exercise, so that any spreadsheet can turn it as it likes."""
    try:
        with table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["learner", "lesson", "exercise", "state", "checks", "minutes", "hints", "mistakes"])
            for name, work in learners.items():
                for exercise in exercises:
                    done = work.get(exercise, Work())
                    mistakes = "; ".join(f"{count} × {mistake}" for mistake, count in done.mistakes.most_common())
                    state = str(done).split()[0].replace("-", "not tried")
                    lesson = all_exercises()[exercise].lesson
                    writer.writerow([name, lesson, exercise, state, done.checks, done.minutes, done.hints, mistakes])
    except OSError as error:
        raise ClassError(f"{table} cannot be written to ({error.strerror})") from error
    print(f"\n{table}")
