"""Checks the form of the notebooks: sizes of cells, what is stored, how a lesson opens and ends."""

from __future__ import annotations

import ast
import re

import nbformat
import pytest

from course_lib.authoring.notebooks import WIDGET_VIEW, clean, dumps, exercise_definition
from course_lib.quiz import quiz
from tests.support.notebook_runs import LESSONS, NOTEBOOKS, called, code_cells, each, exercise_names, has_tag, read

FORBIDDEN_CODE = {
    "widgets.Output": r"\bOutput\(|import.*\bOutput\b",
    "interact": r"\binteract(ive|ive_output|_manual)?\b\s*\(|import.*\binteract",
    "a magic command": r"^\s*[%!]",
    "a comment for nbval": r"NBVAL_|PYTEST_VALIDATE",
    "a global seed": r"\b(torch|torch\.random|cuda)\.manual_seed\(|\brandom\.seed\(|\bseed_everything\(",
}
MACHINE = {
    "a path of one machine": r"/(home|root|Users|tmp)/|\b[A-Z]:\\|site-packages",
    "an address in memory": r"\b0x[0-9a-f]{6,}\b",
}
REGISTRY = r"https?://[^\s)\"'>]*\b(pypi\.org|pythonhosted\.org|anaconda\.org|npmjs\.(com|org)|crates\.io)"
EMOJI = re.compile("[\u2600-\u27bf\u2b50-\u2b55\ufe0f\U0001f000-\U0001faff]")
WAY_OUT = ["Recap", "What people get wrong", "Words and patches", "Next"]


def prose(source: str) -> str:
    """Return the sentences of a markdown cell: no headings, tables, equations, code or link targets."""
    source = re.sub(r"```.*?```|\$\$.*?\$\$|<!--.*?-->", " ", source, flags=re.DOTALL)
    source = re.sub(r"^\s*(#|\|).*$", " ", source, flags=re.MULTILINE)
    source = re.sub(r"`[^`]*`|\$[^$]*\$", " code ", source)
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", source)


def words(source: str) -> int:
    return len(re.findall(r"\w[\w'’.,-]*", prose(source)))


def markdown(notebook) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def shown(notebook) -> list[str]:
    """Return all text of a notebook: sources and outputs without the pictures' bytes."""
    found = [cell.source for cell in notebook.cells]
    for output in (output for cell in code_cells(notebook) for output in cell.outputs):
        found += [output.get("text", "")]
        found += [str(value) for mime, value in output.get("data", {}).items() if mime != "image/png"]
    return found


def matches(patterns: dict[str, str], parts: list[str]) -> list[tuple[str, str]]:
    return [
        (name, found.group())
        for name, pattern in patterns.items()
        for part in parts
        for found in re.finditer(rf".*({pattern}).*", part, re.MULTILINE)
    ]


def section(notebook, heading: str) -> str:
    """Return what stands between a level 2 heading and the next one."""
    text = "\n".join(markdown(notebook)) + "\n## "
    return re.search(rf"^## {heading}\n(.*?)^## ", text, re.DOTALL | re.MULTILINE).group(1)


def test_there_are_notebooks():
    assert len(LESSONS) >= 1 and len(NOTEBOOKS) > len(LESSONS)


@each(NOTEBOOKS)
def test_it_has_the_agreed_number_of_cells(path):
    fewest = 25 if path in LESSONS else 10
    assert fewest <= len(read(path).cells) <= 45


@each(NOTEBOOKS)
def test_prose_is_short(path):
    cells = [cell for cell in read(path).cells if cell.cell_type == "markdown"]
    counts = {cell.id: words(cell.source) for cell in cells if words(cell.source)}
    assert {name: count for name, count in counts.items() if count > 110} == {}
    fitting = [count for count in counts.values() if 15 <= count <= 70]
    assert len(fitting) >= 0.6 * len(counts), counts


@each(NOTEBOOKS)
def test_code_cells_are_short(path):
    lines = {cell.id: len(cell.source.splitlines()) for cell in code_cells(read(path))}
    assert {name: count for name, count in lines.items() if count > 20} == {}
    assert sum(count <= 12 for count in lines.values()) >= 0.9 * len(lines), lines


@each(NOTEBOOKS)
def test_no_line_of_code_is_wider_than_a_small_window(path):
    lines = [line for cell in code_cells(read(path)) for line in cell.source.splitlines()]
    assert [line for line in lines if len(line) > 96] == []


@each(NOTEBOOKS)
def test_it_is_stored_as_refresh_stores_it(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert path.read_text(encoding="utf-8") == dumps(clean(notebook))
    assert path.stat().st_size < 600_000


@each(NOTEBOOKS)
def test_cell_ids_are_words(path):
    names = [cell.id for cell in read(path).cells]
    assert len(set(names)) == len(names)
    slug, generated = r"[a-z0-9]+(-[a-z0-9]+)*", r"(?=.*\d)[0-9a-f]{8}(-[0-9a-f]{4}){0,3}(-[0-9a-f]{12})?"
    assert [name for name in names if not re.fullmatch(slug, name) or re.fullmatch(generated, name)] == []


@each(NOTEBOOKS)
def test_every_code_cell_was_run_without_error_or_warning(path):
    cells = code_cells(read(path))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [(cell.id, output) for cell in cells for output in cell.outputs]
    assert [name for name, output in outputs if output.output_type == "error"] == []
    assert [name for name, output in outputs if output.get("name") == "stderr"] == []


@each(NOTEBOOKS)
def test_every_picture_has_a_text_alternative_and_no_widget_view(path):
    for cell in code_cells(read(path)):
        for data in (output.data for output in cell.outputs if "data" in output):
            assert WIDGET_VIEW not in data, cell.id
            if "image/png" in data:
                text = data.get("text/plain", "").strip()
                assert len(text) >= 40 and not re.fullmatch(r"<.*>", text, re.DOTALL), cell.id


@each(NOTEBOOKS)
def test_code_uses_nothing_that_stalls_or_changes_hidden_state(path):
    assert matches(FORBIDDEN_CODE, [cell.source for cell in code_cells(read(path))]) == []


@each(NOTEBOOKS)
def test_it_shows_nothing_of_one_machine_and_links_to_no_package_registry(path):
    assert matches({**MACHINE, "a package registry": REGISTRY}, shown(read(path))) == []


@each(NOTEBOOKS)
def test_prose_is_calm(path):
    notebook = read(path)
    assert [source for source in markdown(notebook) if "!" in prose(source).replace("!=", "")] == []
    assert [text for text in shown(notebook) if EMOJI.search(text)] == []


@each(LESSONS)
def test_a_lesson_opens_with_a_question_minutes_and_what_is_needed(path):
    cells = read(path).cells
    assert cells[0].cell_type == "markdown" and cells[0].source.startswith("# ")
    assert "?" in cells[0].source
    opening = "\n".join(cell.source for cell in cells[:3] if cell.cell_type == "markdown")
    assert re.search(r"\d minutes", opening)
    assert re.search(r"\bneed", opening, re.IGNORECASE)


@each(LESSONS)
def test_a_lesson_ends_with_recap_mistakes_table_and_the_way_on(path):
    notebook = read(path)
    headings = re.findall(r"^## (.+)$", "\n".join(markdown(notebook)), re.MULTILINE)
    assert headings[-4:] == WAY_OUT
    assert all(section(notebook, heading).strip() for heading in WAY_OUT)
    assert re.search(r"^\|", section(notebook, "Words and patches"), re.MULTILINE)


@each(NOTEBOOKS)
def test_every_exercise_stands_once_and_is_checked_in_the_next_code_cell(path):
    cells = code_cells(read(path))
    names = []
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        if has_tag(cell, "exercise"):
            names.append(exercise_definition(cell).name)
            assert following is not None and ast.parse(following.source).body, cell.id
            assert ast.unparse(ast.parse(following.source).body[-1]) == f"check({names[-1]})", following.id
    assert sorted(names) == exercise_names(path)


@each(NOTEBOOKS)
def test_every_quiz_question_exists(path):
    calls = [call for cell in code_cells(read(path)) for call in called(cell, "quiz")]
    questions = [ast.literal_eval(call.args[0]) for call in calls]
    assert None not in [quiz(name) for name in questions]


@pytest.mark.parametrize("code", ["torch.Generator().manual_seed(0)", "interaction = 3", "rng.random(3)"])
def test_code_that_is_fine_is_not_forbidden(code):
    assert matches(FORBIDDEN_CODE, [code]) == []


@pytest.mark.parametrize(
    "code",
    [
        "torch.manual_seed(0)",
        "np.random.seed(1)",
        "random.seed(1)",
        "%matplotlib inline",
        "out = widgets.Output()",
        "from ipywidgets import interact",
        "@interact(n=3)",
        "# NBVAL_IGNORE_OUTPUT",
    ],
)
def test_code_that_is_forbidden_is_found(code):
    assert len(matches(FORBIDDEN_CODE, [code])) == 1


def test_prose_leaves_out_what_is_no_sentence():
    source = "## Head\nOne `x != y!` two [three](https://a.b/c!) ![four](d.png).\n\n| a! | b |\n\n$$n!$$\n"
    assert words(source) == 5 and "!" not in prose(source)
