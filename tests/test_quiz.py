"""Quiz questions: what counts as an answer, and what comes where it is none."""

from __future__ import annotations

import json

import pytest

from course_lib.exercises import all_questions, find_question
from course_lib.quiz import LETTERS, quiz, respond

QUESTIONS = list(all_questions().values())


@pytest.fixture(autouse=True)
def record(monkeypatch, tmp_path):
    file = tmp_path / "events.jsonl"
    monkeypatch.setenv("COURSE_PROGRESS", str(file))
    return file


@pytest.mark.parametrize("written", ["b", "B", " b ", "b)", "B)", "(b)", "b.", "b:", "'b'"])
def test_a_letter_counts_however_it_is_written(written):
    question = find_question("ten_times")
    assert quiz("ten_times", written).message == respond(question, "b").message


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_the_text_of_an_option_is_taken_for_it(question):
    for letter, option in zip(LETTERS, question.options, strict=False):
        for text in (option.text, option.text.upper(), f"{letter}) {option.text}", f" {option.text}. "):
            assert respond(question, text).message.startswith(f"{letter}) {option.text}: ")


def test_a_number_is_taken_for_the_option_that_says_it():
    numbers = {
        question.name: (option.text, place)
        for question in QUESTIONS
        for place, option in enumerate(question.options)
        if option.text.replace(",", "").isdigit()
    }
    assert numbers
    for name, (text, place) in numbers.items():
        number = int(text.replace(",", ""))
        assert quiz(name, number).message == quiz(name, str(number)).message == quiz(name, LETTERS[place]).message


@pytest.mark.parametrize("written", ["z", "", "  ", "yes", 12345, "ab", None.__class__])
def test_what_is_none_of_the_options_is_told_with_the_options_and_is_no_choice(record, written):
    told = quiz("ten_times", written)
    assert told.kind == "open" and f"{written!r} is none of the options" in told.message
    assert all(f"{letter}) {option.text}" in told.message for letter, option in
               zip(LETTERS, find_question("ten_times").options, strict=False))  # fmt: skip
    assert not record.exists()


def test_a_choice_goes_into_the_record_by_its_letter(record):
    quiz("ten_times", "(C)")
    (event,) = map(json.loads, record.read_text(encoding="utf-8").splitlines())
    assert (event["name"], event["answer"]) == ("ten_times", "c")
