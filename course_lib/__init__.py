"""Words and pictures as vectors: the library that belongs to the notebooks.

Importing it costs nothing: each lesson imports the parts that it uses.
"""

import sys

if sys.argv[:1] == ["-m"] and "course_lib" in getattr(sys, "orig_argv", ["course_lib"]):
    # A command starts, with the current folder before Python's own: a random.py there would break what follows.
    from course_lib.setup import shadows

    if not getattr(sys.flags, "safe_path", False):
        shadows.stop(sys.path[0])

from pathlib import Path

__version__ = "0.9.0"

COURSE = Path(__file__).resolve().parent.parent
"""The course folder: it holds notebooks/, data/ and course_lib/. A wheel installs course_lib/ alone: see is_here."""


def is_here():
    """Whether the course folder is here; without it course_lib has its data and checks, but no lessons."""
    return (COURSE / "pyproject.toml").exists()
