"""The files by which other places run the course: a code host's machines, containers, conda, Binder."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest
import yaml  # comes with JupyterLab

import course_lib
from course_lib import COURSE
from course_lib.setup.installation import CPU_INDEX
from course_lib.setup.requirements import requirement_lines

WORKFLOW = COURSE / ".github" / "workflows" / "ci.yml"
CONTAINERFILE = COURSE / "Containerfile"


def text_of(name: str) -> str:
    return (COURSE / name).read_text(encoding="utf-8")


def job() -> dict:
    return yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["test"]


def steps() -> list[tuple[str, str]]:
    containerfile = pytest.importorskip("tests.tools.containerfile", reason="it needs POSIX")
    return list(containerfile.parse(CONTAINERFILE.read_text(encoding="utf-8")))


# --- a code host's machines


def test_the_workflow_runs_the_command_of_the_readme_and_nothing_else():
    told = re.search(
        r"^python3 (-m course_lib test)$", (COURSE / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert [step["run"] for step in job()["steps"] if "run" in step] == [f"python {told[1]}"]


def test_the_workflow_tries_every_system_with_the_oldest_and_the_newest_python():
    matrix = job()["strategy"]["matrix"]
    oldest = re.search('requires-python = ">=(.*)"', (COURSE / "pyproject.toml").read_text(encoding="utf-8"))[1]
    assert {system.partition("-")[0] for system in matrix["system"]} == {"ubuntu", "macos", "windows"}
    assert matrix["python"][0] == oldest and len(matrix["python"]) == 2  # text, not the number 3.1


def test_what_runs_at_each_commit_is_what_the_tests_run():
    (local,) = yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"]
    needed = {"id", "name", "entry", "language"}
    known = needed | {"types", "types_or", "files", "pass_filenames", "additional_dependencies"}
    assert local["repo"] == "local" and all(needed <= set(hook) <= known for hook in local["hooks"])
    pins = {pin for hook in local["hooks"] for pin in hook.get("additional_dependencies", [])}
    assert pins == {line for line in requirement_lines(text_of("tests/requirements.txt")) if line.startswith("ruff==")}
    named = [word for hook in local["hooks"] for word in hook["entry"].split() if "/" in word]
    assert named and all((COURSE / name).exists() for name in named)


def test_the_version_is_the_newest_of_the_changes():
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", text_of("CHANGELOG.md"), re.MULTILINE)
    done = subprocess.run([sys.executable, "-m", "course_lib", "--version"], cwd=COURSE, capture_output=True, text=True)
    assert newest[1] == done.stdout.strip() == course_lib.__version__


def test_the_workflow_names_a_release_of_each_action():
    used = [step["uses"] for step in job()["steps"] if "uses" in step]
    assert used and all(re.fullmatch(r"actions/[\w-]+@v\d+", one) for one in used)


def test_the_workflow_fits_the_schema_of_workflows():
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(WORKFLOW)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_actionlint_finds_nothing_in_the_workflow():
    actionlint = shutil.which("actionlint")
    if actionlint is None:
        pytest.skip("actionlint is not installed")
    done = subprocess.run([actionlint, str(WORKFLOW)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


# --- containers


def test_an_ordinary_user_starts_jupyterlab_in_the_container_at_the_port_that_it_opens():
    words = dict(steps())  # the last of each
    command = json.loads(words["CMD"])
    assert command[:4] == ["python3", "-m", "course_lib", "lab"]
    assert {"--no-browser", "--ip=0.0.0.0", f"--port={words['EXPOSE']}"} <= set(command)
    assert words["USER"] != "root" and not any("token" in argument for argument in command)


def test_the_container_takes_the_pinned_packages_from_the_index_of_the_small_build():
    found = steps()
    assert ("ARG", f"INDEX={CPU_INDEX}") in found
    assert any('--extra-index-url "$INDEX" -r requirements.txt' in rest for word, rest in found if word == "RUN")


def test_an_unknown_instruction_of_a_containerfile_is_refused_and_long_lines_are_joined():
    containerfile = pytest.importorskip("tests.tools.containerfile", reason="it needs POSIX")
    assert list(containerfile.parse("# a\nFROM x\n\nRUN one \\\n    && two\n")) == [
        ("FROM", "x"),
        ("RUN", "one && two"),
    ]
    with pytest.raises(ValueError, match="ADD is none of"):
        list(containerfile.parse("ADD x y\n"))


def test_what_a_learner_or_git_leaves_in_the_folder_stays_out_of_the_container():
    left_out = set((COURSE / ".dockerignore").read_text(encoding="utf-8").split())
    assert {".git", ".venv", ".progress", ".lab", "my_lessons"} <= left_out
    needed = set("course_lib data labconfig notebooks pyproject.toml requirements.txt README.md LICENSE".split())
    assert all((COURSE / name).exists() for name in needed) and not needed & left_out


def test_the_dev_container_sets_up_the_pinned_packages_and_the_editor():
    settings = json.loads((COURSE / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert settings["postCreateCommand"].endswith(f"--extra-index-url {CPU_INDEX} -r requirements.txt")
    assert set(settings["customizations"]["vscode"]["extensions"]) == {"ms-python.python", "ms-toolsai.jupyter"}


# --- conda and Binder


def test_environment_yml_is_what_a_yaml_parser_expects():
    found = yaml.safe_load((COURSE / "environment.yml").read_text(encoding="utf-8"))
    assert set(found) == {"name", "channels", "dependencies"}
    assert found["dependencies"][-1] == {"pip": ["-e ."]}
    assert all(isinstance(one, str) for one in found["dependencies"][:-1])
