"""The exercises and quiz questions of all lessons: one file an exercise, the only source of a solution."""

from __future__ import annotations

import difflib
import functools
import importlib
import re

from course_lib.exercises.lessons import LESSONS
from course_lib.exercises.model import Exercise, Question


@functools.cache
def all_exercises() -> dict[str, Exercise]:
    """Every exercise by its name, in the order of the lessons."""
    return {name: _module(name).EXERCISE for lesson in LESSONS for name in lesson.exercises}


@functools.cache
def all_questions() -> dict[str, Question]:
    """Every quiz question by its name, in the order of the lessons."""
    return {question.name: question for question in importlib.import_module(f"{__name__}.questions").QUESTIONS}


def find(name: str) -> Exercise:
    """The exercise of that name; a LookupError names the nearest ones."""
    return named(name, all_exercises(), "exercise")


def find_question(name: str) -> Question:
    """The quiz question of that name; a LookupError names the nearest ones."""
    return named(name, all_questions(), "quiz question")


def named(name: str, known: dict, kind: str):
    """known[name], or a LookupError that names what comes nearest."""
    if name in known:
        return known[name]
    close = difflib.get_close_matches(str(name), known, n=3, cutoff=0.4) or list(known)
    raise LookupError(f"no {kind} is called {name!r}; nearest: {', '.join(close)}")


def _module(exercise: str):
    """The module of an exercise: patchify.py for patchify, patch_embedding.py for PatchEmbedding."""
    file = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", exercise).lower()
    return importlib.import_module(f"{__name__}.{file}")
