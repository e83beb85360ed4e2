"""The sections and tables of notebooks/TEACHING.md, for whatever shows them at their place in a lesson."""

from __future__ import annotations

import re

from course_lib import COURSE


def section(heading: str) -> str:
    """What stands under a heading of TEACHING.md, in markdown."""
    text = (COURSE / "notebooks" / "TEACHING.md").read_text(encoding="utf-8")
    return re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)[1].strip()


def table(heading: str) -> list[list[str]]:
    """The rows of the table under a heading of TEACHING.md, as lists of cells in markdown, without its head."""
    rows = [line.strip("| ").split(" | ") for line in section(heading).splitlines() if line.startswith("|")]
    return rows[2:]


def asked() -> dict[tuple[str, str], list[list[str]]]:
    """What to ask before experiments, by notebook and heading of its section: question, answers, what to say."""
    found: dict[tuple[str, str], list[list[str]]] = {}
    for _, link, *rest in table("What to ask before each experiment"):
        question, file, anchor = re.fullmatch(r"\[(.+)\]\(([^#)]+)#(\S+)\)", link).groups()
        found.setdefault((file, anchor.replace("-", " ")), []).append([question, *rest])
    return found


def helps() -> dict[tuple[str, str], str]:
    """What helps beside the message of a check, by exercise and wrong answer."""
    return {(name.strip("`"), wrong): what for name, wrong, what in table("Wrong answers to expect")}
