"""The overview of a class from its learners' records: who solved what, who is stuck, which mistakes were met.

A record is a learner's .progress/events.jsonl, copied under a name that tells the teacher whose it is. It holds
names of exercises and of mistakes, no code and no names of people.
"""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import median

from course_lib import progress
from course_lib.classroom.places import ClassError, free
from course_lib.exercises import all_exercises
from course_lib.setup.printable import cell, printable
from course_lib.showing.drawing import BLACK, GREEN, LIGHT, SKY, VERMILION, ink
from course_lib.showing.picture import Picture

STUCK_AFTER = 3  # failed checks of one exercise without a passed one
BREAK = 20  # minutes without any event that count as a break, not as work
STATES = ("solved", "open", "stuck", "not tried")
COLOURS = (GREEN, SKY, VERMILION, LIGHT)  # of the states


@dataclass
class Work:
    """What one learner did on one exercise until a check passed: checks, minutes, hints, mistakes that were named.

    Minutes run from the event before, of whatever kind, to each check and hint; a gap longer than BREAK counts
    as none. So they hold the reading before a first check, and no lunch.
    """

    checks: int = 0
    passed: bool = False
    minutes: float = 0.0
    hints: int = 0
    mistakes: Counter = field(default_factory=Counter)

    @property
    def state(self) -> str:
        """One of STATES."""
        if not self.checks:
            return "not tried"
        return "solved" if self.passed else "stuck" if self.checks >= STUCK_AFTER else "open"

    def __str__(self) -> str:
        return f"{self.state} {self.checks}, {self.minutes:.0f} min" if self.checks else "-"


Class = dict[str, dict[str, Work]]  # by learner, then by exercise


def read_record(path: Path) -> dict[str, Work]:
    """A learner's work by exercise; ClassError where the file is missing or holds no record."""
    if not path.is_file():
        raise ClassError(f"there is no file {path}: a record is .progress/events.jsonl in a learner's course folder")
    work: dict[str, Work] = {}
    before: datetime | None = None
    read = 0
    for event in progress.events(path):
        read += 1
        when = _time(event)
        if event["kind"] in ("check", "hint") and event["name"] in all_exercises():
            done = work.setdefault(event["name"], Work())
            if not done.passed:  # what comes after the first pass is practice
                done.minutes += _minutes(before, when)
                _count(event, done)
        before = when or before
    if not read and path.stat().st_size:
        raise ClassError(f"{path} is no record of progress: not one line of it can be read")
    return work


def _count(event: dict, done: Work) -> None:
    if event["kind"] == "hint":
        done.hints += 1
        return
    done.checks += 1
    done.passed = event.get("passed") is True
    if isinstance(event.get("diagnosis"), str):
        done.mistakes[printable(event["diagnosis"])] += 1


def _time(event: dict) -> datetime | None:
    try:
        when = datetime.fromisoformat(str(event.get("time")))
    except ValueError:
        return None
    return when if when.tzinfo else None


def _minutes(before: datetime | None, when: datetime | None) -> float:
    """Minutes of work between two events; none where a time is missing, runs backwards, or a break lies between."""
    if before is None or when is None:
        return 0.0
    gap = (when - before).total_seconds() / 60
    return gap if 0 <= gap <= BREAK else 0.0


def overview(files: list[Path], table: Path | None = None, picture: Path | None = None, force: bool = False) -> None:
    """Print how each exercise went, who is stuck, and the mistakes met; write table and picture where asked.

    ClassError for a file that is no record, for two records of one name, and where a file would be replaced.
    """
    for made, ending in ((table, ".csv"), (picture, ".png")):
        if made is not None and made.suffix.lower() != ending:
            raise ClassError(f"expected a file that ends in {ending}, got {made.name}")
        if made is not None:
            free([made], force)
    learners = _read_class(files)
    exercises = [name for name in all_exercises() if any(name in work for work in learners.values())]
    if not exercises:
        print("No exercise was checked yet.")
        return
    print("\n".join([*_by_learner(learners, exercises), *_by_exercise(learners, exercises), *_mistakes(learners)]))
    if table is not None:
        _write_table(table, learners, exercises)
    if picture is not None:
        _draw(picture, learners, exercises)


def _read_class(files: list[Path]) -> Class:
    names = [printable(path.parent.name if path.name == "events.jsonl" else path.stem) for path in files]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ClassError(f"two records are called {', '.join(twice)}: give each file the name of its learner")
    return {name: read_record(path) for name, path in zip(names, files, strict=True)}


def _by_learner(learners: Class, exercises: list[str]) -> list[str]:
    """A row for each exercise and a column for each learner, where the window is wide enough for it."""
    rows = [[name, *(str(work.get(name, Work())) for work in learners.values())] for name in exercises]
    lines = _aligned([["", *learners], *rows])
    if len(lines[0]) > shutil.get_terminal_size((120, 24)).columns:
        return [f"{len(learners)} learners are too many for a table here: --csv and --picture show each of them.", ""]
    return [*lines, ""]


def _by_exercise(learners: Class, exercises: list[str]) -> list[str]:
    """For each exercise how many solved it, are at it, are stuck, and with what it was solved."""
    rows = [["exercise", *STATES, "checks", "minutes"]]
    for name in exercises:
        done = [work.get(name, Work()) for work in learners.values()]
        counts = Counter(one.state for one in done)
        solved = [one for one in done if one.passed]
        half = [median(one.checks for one in solved), median(one.minutes for one in solved)] if solved else []
        rows.append([name, *(str(counts[state]) for state in STATES), *(f"{number:.0f}" for number in half)])
    lines = [*_aligned(rows), f"Medians of those who solved it; a gap of over {BREAK} minutes counts as a break."]
    return [*lines, "", f"stuck ({STUCK_AFTER} checks or more, none passed):", *_stuck(learners, exercises)]


def _stuck(learners: Class, exercises: list[str]) -> list[str]:
    """A line for each exercise where somebody is stuck."""
    found = {
        name: [one for one, work in learners.items() if work.get(name, Work()).state == "stuck"] for name in exercises
    }
    return [f"  {name}: {', '.join(who)}" for name, who in found.items() if who] or ["  nobody"]


def _mistakes(learners: Class) -> list[str]:
    met: Counter[tuple[str, str]] = Counter()
    for work in learners.values():
        met.update({(name, mistake): count for name, done in work.items() for mistake, count in done.mistakes.items()})
    most = sorted(met.items(), key=lambda item: (-item[1], item[0]))[:10]
    return ["", "mistakes met most often:", *(f"  {count:3} × {name}: {mistake}" for (name, mistake), count in most)]


def _aligned(rows: list[list[str]]) -> list[str]:
    """Rows of text as lines: the first column to the left, the others to the right."""
    wide = [max(len(row[column]) for row in rows if column < len(row)) for column in range(len(rows[0]))]
    return [
        row[0].ljust(wide[0]) + "".join(f"  {text:>{width}}" for text, width in zip(row[1:], wide[1:], strict=False))
        for row in rows
    ]


def _write_table(table: Path, learners: Class, exercises: list[str]) -> None:
    """A line for each learner and exercise, so that any spreadsheet can turn it as it likes."""
    try:
        with table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["learner", "lesson", "exercise", "state", "checks", "minutes", "hints", "mistakes"])
            for name, work in learners.items():
                who = cell(name)
                for exercise in exercises:
                    done = work.get(exercise, Work())
                    mistakes = "; ".join(f"{count} × {mistake}" for mistake, count in done.mistakes.most_common())
                    lesson, minutes = all_exercises()[exercise].lesson, round(done.minutes, 1)
                    writer.writerow([who, lesson, exercise, done.state, done.checks, minutes, done.hints, mistakes])
    except OSError as error:
        raise ClassError(f"{table} cannot be written to ({error.strerror})") from error
    print(f"\n{printable(table)}")


def _draw(target: Path, learners: Class, exercises: list[str]) -> None:
    """A square for each learner and exercise: its state as a colour, the checks as a number, stuck with a mark."""
    try:
        target.write_bytes(class_picture(learners, exercises).png)
    except OSError as error:
        raise ClassError(f"{target} cannot be written to ({error.strerror})") from error
    print(f"\n{printable(target)}")


def class_picture(learners: Class, exercises: list[str]) -> Picture:
    """Learners downwards, exercises from left to right with their lessons above."""
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    done = [[work.get(name, Work()) for name in exercises] for work in learners.values()]
    figure = Figure(figsize=(5.5 + 0.3 * len(exercises), 2.6 + 0.26 * len(done)), layout="constrained")
    axes = figure.add_subplot()
    states = [[STATES.index(one.state) for one in row] for row in done]
    axes.pcolormesh(states, cmap=ListedColormap(COLOURS), vmin=0, vmax=len(STATES) - 1, edgecolors="white")
    for y, row in enumerate(done):
        for x, one in enumerate(row):
            text = {"not tried": "", "stuck": f"{one.checks}!"}.get(one.state, str(one.checks))
            axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", color=ink(COLOURS[states[y][x]]), fontsize=8)
    rows = [y + 0.5 for y in range(len(done))]
    names = [name if len(name) <= 40 else name[:39] + "…" for name in learners]
    axes.set_yticks(rows, names, fontsize=9, parse_math=False)  # a $ in a name is a $
    axes.set_xticks([x + 0.5 for x in range(len(exercises))], exercises, fontsize=9, rotation=45, ha="right")
    lessons = [all_exercises()[name].lesson for name in exercises]
    first = [x for x, lesson in enumerate(lessons) if lesson not in lessons[:x]]
    top = axes.secondary_xaxis("top")
    top.set_xticks(first, [lessons[x] for x in first], ha="left", fontsize=9)
    for x in first[1:]:
        axes.axvline(x, color=BLACK, linewidth=1)
    axes.invert_yaxis()
    axes.tick_params(length=0)
    top.tick_params(length=0)
    squares = [Patch(color=colour, label=state) for colour, state in zip(COLOURS, STATES, strict=True)]
    title = "Numbers are checks; 3! means stuck."
    axes.legend(handles=squares, loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, title=title)
    counts = Counter(one.state for row in done for one in row)
    told = ", ".join(f"{counts[state]} {state}" for state in STATES)
    return Picture.from_figure(figure, f"{len(done)} learners and {len(exercises)} exercises, as squares: {told}.")
