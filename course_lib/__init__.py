"""Words and pictures as vectors: the library that belongs to the notebooks.

Importing it costs nothing: each lesson imports the parts that it uses.
"""
from pathlib import Path

COURSE = Path(__file__).resolve().parent.parent
"""The course folder: it holds notebooks/, data/ and course_lib/."""
