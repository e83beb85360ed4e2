"""Which layer of course_lib may import which, that no imports go round, and what saved notebooks import."""

from __future__ import annotations

import ast
import graphlib
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import course_lib
from course_lib.classroom.assignment import HIDDEN
from course_lib.exercises.lessons import notebooks

HOUSE = Path(course_lib.__file__).parent
SUBJECT = "words skipgram patches embed hybrid codebook vit data tiny_world reproducible measure letters".split()
DOORS = "checking quiz lessons progress leaderboard doctor figures model_figures grading".split()
MAY_IMPORT = {  # layer -> the layers that it may import, besides itself and what __init__.py holds
    "__init__": ["setup"],
    "subject": [],
    "exercises": ["subject"],
    "judging": ["exercises", "subject", "setup"],
    "showing": [],
    "explorers": ["subject", "showing"],
    "authoring": ["exercises", "setup"],
    "setup": [],
    "doors": ["subject", "exercises", "judging", "showing", "explorers", "authoring", "setup"],
    "classroom": ["subject", "exercises", "judging", "showing", "explorers", "authoring", "setup", "doors"],
}

# What notebooks have imported, one line a module. Learners keep their notebooks for years: add, and take nothing away.
KEPT = {
    "course_lib": "codebook data doctor embed figures hybrid lessons letters model_figures patches progress skipgram"
    " vit words",
    "course_lib.checking": "check hint solution",
    "course_lib.explorers.attention": "class_token_attention",
    "course_lib.explorers.dictionary": "patch_dictionary",
    "course_lib.explorers.patches": "one_matrix patch_grid two_readings",
    "course_lib.explorers.reach": "reach_of_a_token",
    "course_lib.explorers.shuffle": "shuffled_patches",
    "course_lib.explorers.vectors": "ProgressBar word_map",
    "course_lib.explorers.words": "lookup_cost lookup_steps measure_lookup one_hot_cost sentence_codes",
    "course_lib.grading": "grade",  # by the hidden lines of an assignment
    "course_lib.leaderboard": "attempt leaderboard",
    "course_lib.letters": "show_shapes",
    "course_lib.measure": "compare",
    "course_lib.quiz": "quiz",
    "course_lib.reproducible": "seeded",
    "course_lib.tiny_world": "GROUPS",
    "course_lib.words": "check_ids",
}


def name_of(path: Path) -> str:
    parts = path.relative_to(HOUSE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(HOUSE.rglob("*.py"))}


def layer(module: str) -> str:
    room = module.split(".")[1] if "." in module else "__init__"
    return "subject" if room in SUBJECT else "doors" if room in [*DOORS, "__main__"] else room


START = ["course_lib.__main__"] + [module for module in FILES if layer(module) in ("__init__", "setup")]


def imported(nodes: Iterator[ast.AST]) -> Iterator[tuple[str, str]]:
    """Module and name of each import among the nodes; the name is empty where a module as a whole is asked for."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (("." * node.level + (node.module or ""), alias.name) for alias in node.names)


def ours(tree: ast.AST) -> set[str]:
    """The modules of course_lib that are imported anywhere in it, in functions and under TYPE_CHECKING too."""
    found = [(module, f"{module}.{name}") for module, name in imported(ast.walk(tree))]
    return {name if name in FILES else module for module, name in found if module.split(".")[0] in ("course_lib", "")}


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """All below a node that runs when the module is imported."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from at_import(child)


def asked_for() -> set[tuple[str, str]]:
    """Module and name of what the notebooks, and the hidden lines of an assignment, import from course_lib."""
    read = [json.loads(path.read_text(encoding="utf-8")) for path in notebooks()]
    cells = [cell for notebook in read for cell in notebook["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in cells] + [HIDDEN.format(name="x")]
    every = (one for source in sources for one in imported(ast.walk(ast.parse(source))))
    return {(module, name) for module, name in every if module.split(".")[0] == "course_lib"}


@pytest.mark.parametrize("module", FILES)
def test_a_module_imports_its_own_layer_and_those_that_it_may(module):
    allowed = {layer(module), "__init__", *MAY_IMPORT[layer(module)]}
    wrong = {other for other in ours(FILES[module]) if other not in FILES or layer(other) not in allowed}
    assert not wrong, f"{module} may import only {sorted(allowed)}: move what both need to where both may reach it"


def test_no_imports_go_round():
    order = graphlib.TopologicalSorter({module: ours(tree) for module, tree in FILES.items()})
    order.prepare()  # a CycleError names the modules


@pytest.mark.parametrize("module", START)
def test_the_start_needs_the_standard_library_alone(module):
    first = {name.split(".")[0] for name, _ in imported(at_import(FILES[module]))}
    assert first <= {"course_lib", *sys.stdlib_module_names}


def test_what_lies_directly_in_course_lib_is_what_a_notebook_imports():
    asked = {f"{module}.{name}" if module == "course_lib" else module for module, name in asked_for()}
    direct = {name_of(path) for path in HOUSE.glob("*.py")} - {"course_lib", "course_lib.__main__"}
    assert direct == {f"course_lib.{name}" for name in SUBJECT + DOORS}
    assert direct <= asked


def test_the_list_of_what_is_kept_holds_all_that_notebooks_import_today():
    assert asked_for() <= {(module, name) for module, names in KEPT.items() for name in names.split()}


@pytest.mark.parametrize("module", [f"course_lib.{name}" for name in SUBJECT + DOORS])
def test_a_module_that_notebooks_import_stays(module):
    importlib.import_module(module)


@pytest.mark.parametrize(("module", "names"), KEPT.items())
def test_a_line_of_a_saved_notebook_runs(module, names):
    exec(f"from {module} import {', '.join(names.split())}", {})


def test_the_tests_have_the_rooms_of_the_library():
    folder = Path(__file__).parent
    rooms = {path.parent.name for path in folder.glob("*/*.py")}
    layers = {path.parent.name for path in HOUSE.glob("*/__init__.py")}
    assert rooms == layers | {"lessons", "support", "tools", "peers", "front_ends"}
    others = {path.name for path in folder.iterdir() if path.is_file() and not path.name.startswith("test_")}
    assert others == {"__init__.py", "conftest.py", "requirements.txt"}
    misplaced = [path for room in ("support", "tools") for path in (folder / room).glob("test_*")]
    assert not misplaced
