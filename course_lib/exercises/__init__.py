"""The exercises and quiz questions of all lessons: one file a lesson, the only source of a solution."""

from __future__ import annotations

import difflib
import functools
import importlib

from course_lib.exercises.model import Exercise, Question

LESSONS = ("00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10")


@functools.cache
def all_exercises() -> dict[str, Exercise]:
    """Every exercise by its name, in the order of the lessons."""
    return {exercise.name: exercise for module in _modules() for exercise in module.EXERCISES}


@functools.cache
def all_questions() -> dict[str, Question]:
    """Every quiz question by its name, in the order of the lessons."""
    return {question.name: question for module in _modules() for question in module.QUESTIONS}


def find(name: str) -> Exercise:
    """The exercise of that name; a LookupError names the nearest ones."""
    return nearest(name, all_exercises(), "exercise")


def find_question(name: str) -> Question:
    """The quiz question of that name; a LookupError names the nearest ones."""
    return nearest(name, all_questions(), "quiz question")


def nearest(name: str, known: dict, kind: str):
    """known[name], or a LookupError that names what comes nearest."""
    if name in known:
        return known[name]
    close = difflib.get_close_matches(str(name), known, n=3, cutoff=0.4) or list(known)
    raise LookupError(f"no {kind} is called {name!r}; nearest: {', '.join(close)}")


def _modules():
    return [importlib.import_module(f"{__name__}.lesson_{lesson}") for lesson in LESSONS]
