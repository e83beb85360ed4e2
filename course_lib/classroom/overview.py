"""The overview of a class from its learners' records: who solved what, who is stuck, which mistakes were met.

A record is a learner's .progress/events.jsonl, copied under a name that tells the teacher whose it is. It holds
names of exercises and of mistakes, no code and no names of people.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from course_lib import progress
from course_lib.classroom.places import ClassError, free
from course_lib.exercises import all_exercises

STUCK_AFTER = 3  # failed checks of one exercise without a passed one


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
        free([table], force)
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
