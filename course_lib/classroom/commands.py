"""For teachers: the solved edition, pages to hand out, slides, assignments for nbgrader, and an overview of a class.

    python3 -m course_lib class solved DIR               every exercise filled in and run
    python3 -m course_lib class handout DIR              each lesson as a page that needs no kernel and no network
    python3 -m course_lib class slides DIR               each lesson as slides with notes for the speaker
    python3 -m course_lib class assignment DIR           the lessons as assignments that nbgrader grades
    python3 -m course_lib class overview FILES…          who solved what, and which mistakes were met how often
    python3 -m course_lib class overview FILES… --csv CLASS.csv --picture CLASS.png

A record is a learner's .progress/events.jsonl, copied under a name that tells the teacher whose it is. It holds
names of exercises and of mistakes, no code and no names of people.
"""

from __future__ import annotations

import argparse
import sys

from course_lib.classroom.assignment import assignment
from course_lib.classroom.editions import handout, solved_edition
from course_lib.classroom.overview import overview
from course_lib.classroom.places import ClassError, place
from course_lib.classroom.slides import slides
from course_lib.setup.printable import printable


def main(arguments: list[str]) -> int:
    """Run one command of a teacher; 0 if it worked, 1 with a line on stderr if not."""
    given = _parser().parse_args(arguments)
    try:
        if given.command == "solved":
            solved_edition(place(given.folder), given.only, given.force)
        elif given.command == "handout":
            handout(place(given.folder), given.only, given.force, given.pdf)
        elif given.command == "slides":
            slides(place(given.folder), given.only, given.force)
        elif given.command == "assignment":
            assignment(place(given.folder), given.only, given.force)
        else:
            table, picture = (place(name) if name else None for name in (given.csv, given.picture))
            overview([place(name) for name in given.files], table, picture, given.force)
    except (ClassError, OSError) as error:
        print(f"This did not work: {printable(error)}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m course_lib class", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    solved = commands.add_parser("solved", help="fill in every exercise, run the lessons, store them in DIR")
    hand = commands.add_parser("handout", help="store each lesson in DIR as a page of HTML that holds everything")
    hand.add_argument("--pdf", action="store_true", help="as PDF too; needs Chromium, Chrome or Edge")
    show = commands.add_parser("slides", help="store each lesson in DIR as slides that need no network")
    graded = commands.add_parser("assignment", help="write the lessons into DIR as assignments that nbgrader grades")
    for one in (solved, hand, show, graded):
        one.add_argument("folder", metavar="DIR")
        one.add_argument("--only", nargs="+", metavar="NN", default=[], help="numbers of lessons, such as 04 05")
    records = commands.add_parser("overview", help="a table of the class from records of progress")
    records.add_argument("files", nargs="+", metavar="FILE")
    records.add_argument("--csv", metavar="FILE", help="write a table there, a line for each learner and exercise")
    records.add_argument("--picture", metavar="FILE", help="draw the class there as PNG")
    for one in commands.choices.values():
        one.add_argument("--force", action="store_true", help="replace files that are there")
    return parser
