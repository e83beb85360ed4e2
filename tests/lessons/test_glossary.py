"""Holds the glossary against the letters and the lessons: every term once, and links in both directions."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from course_lib import COURSE
from course_lib.exercises.lessons import LESSONS
from course_lib.letters import LETTERS
from tests.support.notebook_runs import NOTEBOOKS, each, read

TEXT = (COURSE / "notebooks" / "glossary.md").read_text(encoding="utf-8")
FILES = {lesson.number: lesson.file for lesson in LESSONS}
LINK = re.compile(r"\[([^\]]+)\]\(glossary\.md(?:#([^)]*))?\)")


@dataclass(frozen=True)
class Entry:
    """A term of the glossary, what is said about it, and the line that names its lesson."""

    term: str
    definition: str
    origin: str

    @property
    def anchor(self) -> str:
        return self.term.replace(" ", "-")

    @property
    def lesson(self) -> str:
        return lesson_named(self.origin.removesuffix("."))


def entries(text: str) -> list[Entry]:
    """Return the entries in order; the last line of each names the lesson."""
    parts = re.split(r"^### (.*)\n", text, flags=re.MULTILINE)[1:]
    bodies = [body.strip().rpartition("\n") for body in parts[1::2]]
    return [Entry(term, body[0].strip(), body[2]) for term, body in zip(parts[::2], bodies, strict=True)]


def lesson_named(origin: str) -> str:
    """Return the number of the lesson that a link or plain text names, or an empty text."""
    found = re.fullmatch(r"(?:Lesson (\d\d)|\[Lesson (\d\d)\]\([^)]*\))", origin)
    return found[1] or found[2] if found else ""


def written(number: str) -> str:
    """Return how the glossary has to name a lesson: a link once its notebook exists, plain text before."""
    return f"[Lesson {number}]({FILES[number]})" if FILES[number] else f"Lesson {number}"


def singulars(words: str) -> set[str]:
    """Return the terms that words in a lesson may stand for: small letters, no marks, perhaps one and not many."""
    term = words.replace("*", "").replace("`", "").lower()
    return {term, re.sub("s$", "", term), re.sub("es$", "", term), re.sub("es$", "is", term), re.sub("ies$", "y", term)}


def markdown(path) -> str:
    return "\n\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


def linked(source: str) -> list[tuple[str, str]]:
    """Return words and anchor of each link to the glossary; the anchor of the page itself is empty."""
    return LINK.findall(source)


def anchors(source: str) -> set[str]:
    return {anchor for _, anchor in linked(source)}


def plain(text: str) -> str:
    """Return text without the targets of its links."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def letter_rows(text: str) -> list[list[str]]:
    """Return the cells of the table of letters, row by row, without its head."""
    rows = re.findall(r"^\| (.*) \|$", text.partition("## Terms")[0], re.MULTILINE)
    return [row.split(" | ") for row in rows[1:]]


ENTRIES, ROWS = entries(TEXT), letter_rows(TEXT)
TERMS = [entry.term for entry in ENTRIES]
ANCHORS = {entry.anchor for entry in ENTRIES}
SOURCES = {path.name[:2]: markdown(path) for path in NOTEBOOKS}
each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.anchor)


def test_there_are_terms():
    assert len(TERMS) >= 60


def test_each_term_is_defined_once():
    twice = [(term, other) for term in TERMS for other in TERMS if term != other and singulars(term) & singulars(other)]
    assert len(set(TERMS)) == len(TERMS) and twice == []


def test_terms_are_small_letters_so_that_an_anchor_is_the_same_everywhere():
    assert [term for term in TERMS if not re.fullmatch(r"[a-z0-9]+([ -][a-z0-9]+)*", term)] == []


def test_terms_are_in_alphabetical_order():
    assert TERMS == sorted(TERMS, key=lambda term: term.replace("-", " "))


def test_the_table_of_letters_is_that_of_the_course():
    assert [row[:2] for row in ROWS] == [list(pair) for pair in LETTERS.items()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_letter_names_the_lesson_that_uses_it_first(row):
    letter, _, origin = row
    assert lesson_named(origin) in FILES
    assert origin == written(lesson_named(origin))
    text = {path.name[:2]: plain(markdown(path)) + " ".join(shapes(path)) for path in NOTEBOOKS}
    users = [number for number, said in sorted(text.items()) if re.search(rf"\b{letter}\b", said)]
    exists = FILES[lesson_named(origin)]
    assert users[:1] == ([lesson_named(origin)] if exists else [])


def shapes(path) -> list[str]:
    """Return the letters that the code cells of a notebook give to show_shapes."""
    code = [cell.source for cell in read(path).cells if cell.cell_type == "code" and "show_shapes(" in cell.source]
    return re.findall(r', "([^"]*)"\)', "\n".join(code))


@each_entry
def test_an_entry_is_one_to_three_short_sentences(entry):
    text = plain(entry.definition)
    assert 5 <= len(re.findall(r"\S*\w\S*", text)) <= 60
    assert text.endswith(".") and len(re.findall(r"[.?](?=\s|$)", re.sub(r"`[^`]*`", "code", text))) <= 3
    assert not re.match(rf"(an?|the)? *{entry.term}\b", text, re.IGNORECASE), "it begins with the term itself"


@each_entry
def test_an_entry_names_one_lesson_by_a_link_once_its_notebook_exists(entry):
    assert entry.lesson in FILES, f"no lesson is named by {entry.origin!r}"
    assert entry.origin == written(entry.lesson) + "."
    assert not re.search(r"lessons? \d", entry.definition, re.IGNORECASE)


@each_entry
def test_the_lesson_that_introduces_a_term_links_to_it_and_no_earlier_one_does(entry):
    users = [number for number, source in sorted(SOURCES.items()) if entry.anchor in anchors(source)]
    wanted = [entry.lesson] if FILES[entry.lesson] else []
    assert users[:1] == wanted, f"link glossary.md#{entry.anchor} first where lesson {entry.lesson} defines it"


@each_entry
def test_links_between_entries_lead_to_another_entry(entry):
    targets = re.findall(r"\]\(([^)]*)\)", entry.definition)
    assert [target for target in targets if target[:1] != "#" or target[1:] not in ANCHORS - {entry.anchor}] == []


def test_links_beside_the_entries_lead_to_an_entry():
    targets = re.findall(r"\]\(([^)]*)\)", TEXT.partition("## Terms")[0])
    wrong = [target for target in targets if target not in FILES.values() and target[1:] not in ANCHORS]
    assert wrong == []


@each(NOTEBOOKS)
def test_links_of_a_lesson_lead_to_the_term_that_they_show(path):
    links = [(words, anchor) for words, anchor in linked(markdown(path)) if anchor or words != "glossary"]
    assert links or path.name.startswith("00")
    wrong = [(words, anchor) for words, anchor in links if not anchor_fits(words, anchor)]
    assert wrong == []
    assert len(re.findall(r"glossary\.md", markdown(path))) == len(linked(markdown(path)))


def anchor_fits(words: str, anchor: str) -> bool:
    return anchor in ANCHORS and anchor in {term.replace(" ", "-") for term in singulars(words)}


@each(NOTEBOOKS)
def test_a_bold_term_is_a_link(path):
    """Tables and sentences that only contain a term are left alone."""
    text = re.sub(r"^\|.*$", "", markdown(path), flags=re.MULTILINE)
    bold = re.findall(r"(\[?)\*\*([^*]+)\*\*", text)
    assert [words for bracket, words in bold if not bracket and singulars(words) & set(TERMS)] == []


def test_the_first_page_and_the_readme_lead_to_the_glossary():
    assert ("glossary", "") in linked(SOURCES["00"])
    assert "](notebooks/glossary.md)" in (COURSE / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "term"),
    [("**Kernels**", "kernel"), ("epochs", "epoch"), ("axes", "axis"), ("`window`", "window"), ("bias", "bias")],
)
def test_words_stand_for_a_term(words, term):
    assert term in singulars(words)


def test_words_do_not_stand_for_another_term():
    assert "key" not in singulars("keyword") and "code" not in singulars("codebook")
