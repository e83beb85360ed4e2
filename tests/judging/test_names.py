"""The names of mistakes: declared once, used by those who find them, and told from those of wrong answers."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import course_lib.checking
import course_lib.judging
from course_lib.exercises import all_exercises
from course_lib.judging import names
from course_lib.judging.faults import Fault
from course_lib.judging.running import Outcome

FOLDER = Path(course_lib.judging.__file__).parent
TREES = {path.name: ast.parse(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.py")}
DECLARED = {name: value for name, value in vars(names).items() if name.isupper() and isinstance(value, str)}


def parts():
    """Every node of every module that judges, but for the one that declares the names."""
    return [node for file, tree in TREES.items() if file != "names.py" for node in ast.walk(tree)]


def test_every_name_is_declared_once_and_used():
    used = {
        node.attr for node in parts() if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "names"
    }
    door = Path(course_lib.checking.__file__).read_text(encoding="utf-8")
    used |= {name for name in DECLARED if f"names.{name}" in door}
    assert DECLARED.keys() <= used and set(DECLARED.values()) == names.MEANING.keys() >= names.SURE


def test_no_name_is_written_out_where_it_is_used():
    texts = {node.value for node in parts() if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert not texts & names.MEANING.keys()


def test_whoever_finds_something_gives_a_declared_name():
    finding = [
        node for node in parts() if isinstance(node, ast.FunctionDef) and node.returns and is_finding(node.returns)
    ]
    given = [node.value.elts[0] for found in finding for node in ast.walk(found) if gives_two(node)]
    assert len(given) > 20
    written = [one for one in given if isinstance(one, (ast.Constant, ast.JoinedStr)) and getattr(one, "value", True)]
    assert not written, [ast.unparse(one) for one in written]


def is_finding(hint):
    return ast.unparse(hint) in ("Finding", "tuple[str, str]", "tuple[str, str] | None")


def gives_two(node):
    return isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2


def test_a_fault_without_a_declared_name_cannot_be_made():
    case = all_exercises()["patchify"].cases()[0]
    with pytest.raises(ValueError, match="the fault 'odd' is not declared in names.py"):
        Fault("odd", "", Outcome(case))
    assert Fault(names.filled(names.WRONG_PART, "stride"), "", Outcome(case)).name == "wrong stride"


@pytest.mark.parametrize("name", all_exercises())
def test_no_wrong_answer_has_the_name_of_a_general_mistake(name):
    assert not {wrong.name for wrong in all_exercises()[name].wrong} & names.MEANING.keys()


def test_a_name_with_words_in_it_is_general_and_others_are_not():
    assert names.is_general("right for square images only") and names.is_general("wrong in the last place")
    assert not names.is_general("right for") and not names.is_general("sides added")
