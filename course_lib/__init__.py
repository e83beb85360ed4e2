"""Words and pictures as vectors: the library that belongs to the notebooks.

Importing it costs nothing: each lesson imports the parts that it uses.
"""
from pathlib import Path

COURSE = Path(__file__).resolve().parent.parent
"""The course folder: it holds notebooks/, data/ and course_lib/. A wheel installs course_lib/ alone: see is_here."""


def is_here():
    """Whether the course folder is here; without it course_lib has its data and checks, but no lessons."""
    return (COURSE / "pyproject.toml").exists()
