"""A course folder for nbgrader, made of the lessons and their solutions."""

from __future__ import annotations

import ast
import copy
import re
import textwrap
from pathlib import Path
from typing import Any

from course_lib import COURSE
from course_lib.classroom.places import ClassError, chosen_lessons, free, naming, written
from course_lib.classroom.teaching import MARKING, points, section
from course_lib.setup.printable import printable

OPEN_TASK = "open"  # the id of the cell in lesson 10
CONFIG = '''"""Settings of nbgrader for the lessons of the course. Add your own at the end."""

from course_lib.classroom.autograding import configure

c = get_config()
configure(c)
'''
# What a learner redefined or patched does not count here: the course's library is loaded anew for the grade.
HIDDEN = """\
### BEGIN HIDDEN TESTS
import sys
_before = {{key: sys.modules.pop(key) for key in [*sys.modules] if key.split(".")[0] == "course_lib"}}
try:
    from course_lib.grading import grade as _grade
    _grade("{name}")
finally:
    sys.modules.update(_before)
### END HIDDEN TESTS"""


def assignment(folder: Path, only: list[str], force: bool) -> list[Path]:
    """Write a folder that nbgrader takes as its course: source/<lesson>/ and nbgrader_config.py; the notebooks written.

    ClassError for a lesson that does not exist or is damaged, files that are there, and a folder of another course.
    """
    from course_lib.authoring.notebooks import dumps

    chosen = chosen_lessons(only)
    targets = [folder / "source" / path.stem / path.name for path in chosen]
    config = folder / "nbgrader_config.py"
    free(targets, force)
    if config.exists() and "course_lib.classroom.autograding" not in config.read_text(encoding="utf-8"):
        raise ClassError(f"{config} belongs to another course: choose another folder")
    with written(folder):
        glossary = relinked((COURSE / "notebooks" / "glossary.md").read_text(encoding="utf-8"))
        for (path, notebook), target in zip(chosen.items(), targets, strict=True):
            with naming(path):
                made = source_edition(notebook)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(dumps(made), encoding="utf-8")
            target.with_name("glossary.md").write_text(glossary, encoding="utf-8")
            print(printable(target), flush=True)
        if not config.exists():  # it may hold the teacher's own settings
            config.write_text(CONFIG, encoding="utf-8")
    print(_next_steps(folder, targets[0].stem))
    return targets


def source_edition(notebook: Any) -> Any:
    """A lesson as nbgrader's source: cells for solutions and tests, links to the folders of the other lessons."""
    from course_lib.authoring.notebooks import exercise_definition

    result = copy.deepcopy(notebook)
    names = {exercise_definition(cell).name for cell in result.cells if "exercise" in cell.metadata.get("tags", [])}
    for cell in result.cells:
        cell.metadata.pop("output_of", None)
        if cell.cell_type == "markdown":
            cell.source = relinked(cell.source)
            if cell.id == OPEN_TASK:
                cell.source += f"\n=== BEGIN MARK SCHEME ===\n\n{section(MARKING)}\n\n=== END MARK SCHEME ==="
                cell.metadata.nbgrader = _kind(cell, task=True, locked=True, points=points())
            continue
        cell.outputs, cell.execution_count = [], None
        checked = re.fullmatch(r"check\((\w+)\)", cell.source)
        if "exercise" in cell.metadata.get("tags", []):
            cell.source = with_solution(cell)
            cell.metadata.nbgrader = _kind(cell, solution=True)
        elif checked and checked[1] in names:
            cell.source += "\n" + HIDDEN.format(name=checked[1])
            cell.metadata.nbgrader = _kind(cell, grade=True, locked=True, points=1)
    return result


def _kind(cell: Any, **chosen: Any) -> dict[str, Any]:
    """nbgrader's metadata of a cell; its id stays the same from one edition to the next."""
    return {"schema_version": 3, "grade_id": cell.id, "grade": False, "solution": False, "locked": False,
            "task": False, **chosen}  # fmt: skip


def with_solution(cell: Any) -> str:
    """The learner's text of an exercise cell, each gap filled with the solution's lines between nbgrader's marks."""
    from course_lib.authoring.notebooks import exercise_definition
    from course_lib.exercises import find

    asked = exercise_definition(cell)
    solution = find(asked.name).solution_source
    answers = _functions(ast.parse(solution).body[0])
    lines = cell.source.splitlines()
    for name, function in reversed(_functions(asked).items()):  # from below: line numbers above stay right
        *before, gap = function.body
        there = [ast.unparse(statement) for statement in before]
        new = [statement for statement in answers[name].body if ast.unparse(statement) not in there]
        filled = textwrap.dedent("\n".join(solution.splitlines()[new[0].lineno - 1 : new[-1].end_lineno]))
        marked = textwrap.indent(f"### BEGIN SOLUTION\n{filled}\n### END SOLUTION", " " * gap.col_offset)
        lines[gap.lineno - 1 : gap.end_lineno] = marked.splitlines()
    return "\n".join(lines)


def _functions(definition: ast.stmt) -> dict[str, ast.FunctionDef]:
    """A function, or the methods of a class, by name."""
    parts = definition.body if isinstance(definition, ast.ClassDef) else [definition]
    return {part.name: part for part in parts if isinstance(part, ast.FunctionDef)}


def relinked(text: str) -> str:
    """Markdown whose links to lessons lead to the folders that nbgrader gives each learner, side by side."""
    return re.sub(r"\]\((\d\d_\w+)\.ipynb", r"](../\1/\1.ipynb", text)


def _next_steps(folder: Path, lesson: str) -> str:
    return f"""
Next, in {printable(folder)}:
    nbgrader generate_assignment {lesson}    writes release/{lesson}/ for the learners
    nbgrader autograde {lesson}              grades submitted/LEARNER/{lesson}/{lesson}.ipynb
    nbgrader generate_feedback {lesson}      writes a page for each of them below feedback/"""
