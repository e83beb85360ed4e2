"""A hub for a class: its list, its learners' numbers, and three learners at work at once on loopback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from course_lib import COURSE, progress
from course_lib.classroom import hub
from course_lib.classroom.overview import overview
from course_lib.classroom.places import ClassError
from course_lib.setup.requirements import requirement_lines
from tests.support.hub import MEMORY, Hub, Learner, require_hub

needs_root = pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0, reason="only root gives files to others"
)
NAMES = ["learner_1", "learner_2", "learner_3"]
NOTEBOOK = "00_start_here.ipynb"
CHECK = """
from course_lib.checking import check

def numbers_in(shape):
    {body}

print(check(numbers_in).passed)
"""
WRONG = CHECK.format(body="return sum(shape)")
RIGHT = CHECK.format(body="import math; return math.prod(shape)")


def together(work, learners):
    """What `work` gives for each learner; all are at it at once."""
    with ThreadPoolExecutor(len(learners)) as pool:
        return list(pool.map(work, learners))


@pytest.fixture(scope="module")
def klass():
    """A hub and three learners who logged in and opened lesson 00."""
    require_hub()
    running = Hub(NAMES)
    try:
        running.start()
        running.learners = [Learner(running, name) for name in NAMES]
        together(enter, running.learners)
        yield running
    finally:
        running.remove()


def enter(learner):
    assert learner.login(f"secret of {learner.name}")
    learner.start()
    learner.open(NOTEBOOK)


def record(running, name):
    return running.folder / "progress" / f"{name}.jsonl"


# ---------------------------------------------------------------- three learners at once


def test_each_learner_solves_an_exercise_and_has_a_record_of_their_own(klass, capsys):
    first = klass.learners[0]
    assert first.run(WRONG).endswith("False")
    answers = together(lambda learner: learner.run(RIGHT), klass.learners)
    assert [answer.split()[-1] for answer in answers] == ["True"] * 3
    found = [[event["passed"] for event in progress.events(record(klass, name))] for name in NAMES]
    assert found == [[False, True], [True], [True]]
    overview([record(klass, name) for name in NAMES])
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["numbers_in", "3", "0", "0", "0", "1", "0"] in told  # all three solved it, with one check at the median


TRIES = """
import os
from pathlib import Path

folder, course, other, passwords = Path({folder!r}), Path({course!r}), {other!r}, Path({passwords!r})
tries = {{
    "list homes": lambda: list((folder / "homes").iterdir()),
    "list records": lambda: list((folder / "progress").iterdir()),
    "list a home": lambda: list((folder / "homes" / other).iterdir()),
    "read a lesson": lambda: (folder / "homes" / other / "notebooks" / "00_start_here.ipynb").read_text(),
    "read a record": lambda: (folder / "progress" / (other + ".jsonl")).read_text(),
    "write a record": lambda: (folder / "progress" / (other + ".jsonl")).open("a"),
    "remove a record": lambda: (folder / "progress" / (other + ".jsonl")).unlink(),
    "read passwords": lambda: passwords.read_bytes(),
    "read the hub's files": lambda: (folder / "jupyterhub.sqlite").read_bytes(),
    "write the course": lambda: (course / "course_lib" / "new.py").touch(),
    "change the course": lambda: (course / "course_lib" / "__init__.py").open("a"),
    "become root": lambda: os.setuid(0),
    "own record": lambda: Path(os.environ["COURSE_PROGRESS"]).read_text(),
    "own home": lambda: list(Path.home().iterdir()),
}}
for name, act in tries.items():
    try:
        act()
        print(name)
    except PermissionError:
        pass
print(os.getuid(), os.getgroups())
"""


def test_a_learner_gets_at_nothing_of_others_and_cannot_change_the_course(klass):
    reached, (passwords, *_) = [], klass.folder.glob("passwords.dbm*")  # each system has its own end of the name
    for learner, other in zip(klass.learners, [*NAMES[1:], NAMES[0]], strict=True):
        code = TRIES.format(folder=str(klass.folder), course=str(COURSE), other=other, passwords=str(passwords))
        *did, numbers = learner.run(code).splitlines()
        assert did == ["own record", "own home"]
        reached.append(numbers)
        assert learner.session.get(f"{klass.address}/user/{other}/api/contents").status_code in (403, 404)
    assert sorted(reached) == [f"{hub.FIRST_UID + number} []" for number in range(3)]


def test_a_kernel_that_asks_for_too_much_is_told_and_harms_nobody(klass):
    greedy, *others = klass.learners
    assert greedy.run("much = bytearray(4 << 30)").startswith("MemoryError")
    assert "memory" in greedy.run("import torch; torch.zeros(1 << 30)")
    assert together(lambda learner: learner.run("6 * 7"), [greedy, *others]) == ["42"] * 3


TAKE = "import os; much = os.urandom(1 << 20) * 1400; print('taken')"  # MiB, each of them written to
LIVES = "print('taken' if 'much' in globals() else 'gone')"


def taken(answer):
    """Whether a kernel has its memory; the other answer that may come is that it died."""
    assert answer in ("taken", "the kernel died")
    return answer == "taken"


def test_a_learner_with_several_kernels_is_limited_as_a_whole_and_harms_nobody(klass):
    greedy, *others = klass.learners
    group = hub.memory_group(hub.account(klass.folder, greedy.name), MEMORY)
    kernels = [greedy.another(path.name) for path in sorted((COURSE / "notebooks").glob("0[1-3]*"))]
    took = [kernel for kernel in kernels if taken(kernel.run(TAKE))]
    live = [kernel for kernel in took if taken(kernel.run(LIVES))]
    assert len(kernels) == 3 and len(live) < 3
    highest = next(group / name for name in ("memory.peak", "memory.max_usage_in_bytes") if (group / name).exists())
    assert MEMORY * 0.9 < int(highest.read_text()) <= MEMORY
    assert greedy.ask("GET", "contents/notebooks").ok  # the server lives
    greedy.open(NOTEBOOK)
    assert together(lambda learner: learner.run("6 * 7"), [greedy, *others]) == ["42"] * 3


def test_a_wrong_password_and_a_name_not_on_the_list_are_refused(klass):
    assert not Learner(klass, NAMES[0]).login("secret of somebody else")
    assert not Learner(klass, "somebody").login("secret of somebody")
    assert not (klass.folder / "homes" / "somebody").exists()


def test_work_and_passwords_stay_and_the_list_rules_when_the_hub_starts_again(klass):
    stays, goes = klass.learners[0], klass.learners[1]
    lessons = klass.folder / "homes" / stays.name / "notebooks"
    changed = {"type": "notebook", "format": "json", "content": json.loads((lessons / NOTEBOOK).read_text())}
    changed["content"]["cells"][0]["source"] = "# My own notes"
    assert stays.ask("PUT", f"contents/notebooks/{NOTEBOOK}", json=changed).ok
    assert stays.ask("DELETE", "contents/notebooks/glossary.md").ok
    before = record(klass, stays.name).read_bytes()
    klass.stop()
    klass.write_list([name for name in NAMES if name != goes.name])
    klass.start()
    assert not Learner(klass, goes.name).login(f"secret of {goes.name}")
    refused = goes.session.get(f"{klass.address}/hub/spawn/{goes.name}")  # in a browser that is still logged in
    assert refused.status_code == 403 and f"{goes.name} is not on the class list" in refused.text
    again = Learner(klass, stays.name)
    assert not again.login("another secret") and again.login(f"secret of {stays.name}")
    again.start()
    assert "# My own notes" in (lessons / NOTEBOOK).read_text() and (lessons / "glossary.md").exists()
    assert record(klass, stays.name).read_bytes() == before


def test_a_forgotten_password_is_cleared_as_the_notes_for_teachers_say(klass):
    notes = (COURSE / "notebooks" / "TEACHING.md").read_text(encoding="utf-8")
    code = re.search(r"python -c '(import dbm[^']*)'", notes)[1]
    learner = Learner(klass, "learner_1")
    assert not learner.login("a new secret")
    subprocess.run([sys.executable, "-c", code], cwd=klass.folder, check=True)
    assert learner.login("a new secret")


# ---------------------------------------------------------------- the class list


def test_a_class_list_has_a_name_a_line(tmp_path):
    path = tmp_path / "class.txt"
    path.write_text("\ufeff# group A\nlearner_1\n\n  learner-2  # moved\nlearner.3\n", encoding="utf-8")
    assert hub.class_list(path) == {"learner_1", "learner-2", "learner.3"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "class.txt cannot be read .*: it has to hold a learner's name a line"),
        ("# nobody yet\n", "class.txt holds no name: write a learner's name a line"),
        ("learner_1\n../root\n", "class.txt, line 2: '../root' is no name to log in with"),
        ("Learner 1\n", "line 1: 'Learner 1' is no name"),
        ("learner_1\nlearner_2\nlearner_1\n", "line 3: learner_1 is there twice"),
    ],
)
def test_a_class_list_that_will_not_do_is_told(tmp_path, text, told):
    if text is not None:
        (tmp_path / "class.txt").write_text(text, encoding="utf-8")
    with pytest.raises(ClassError, match=told):
        hub.class_list(tmp_path / "class.txt")


# ---------------------------------------------------------------- the server


def control_groups(top, *files):
    for file in files:
        (top / file).parent.mkdir(parents=True, exist_ok=True)
        (top / file).write_text("")
    return {file: (top / file).read_text for file in files}


def test_a_learners_group_of_version_2_takes_no_more_than_it_may_and_swaps_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "CGROUPS", tmp_path)
    groups = [f"{group}cgroup.subtree_control" for group in ("", "course/")]
    limits = [f"course/20000/memory.{name}max" for name in ("", "swap.")]
    read = control_groups(tmp_path, "cgroup.controllers", *groups, *limits)
    assert hub.memory_group(20_000, 3 << 30) == tmp_path / "course" / "20000"
    assert [read[file]() for file in (*groups, *limits)] == ["+memory", "+memory", "3221225472", "0"]


@pytest.mark.parametrize("files", [[], ["cgroup.controllers"], ["memory/tasks"]])
def test_a_hub_is_refused_where_the_memory_of_a_learner_cannot_be_limited(tmp_path, monkeypatch, files):
    monkeypatch.setattr(hub, "CGROUPS", tmp_path)
    control_groups(tmp_path, *files)
    with pytest.raises(ClassError, match="as a whole cannot be limited here .*set c.Spawner.mem_limit = None"):
        hub.as_learner(20_000, 3 << 30)
    assert "prlimit" in hub.as_learner(20_000, None)[0]


def test_a_hub_is_refused_where_it_could_not_keep_learners_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(hub.sys, "platform", "darwin")
    with pytest.raises(ClassError, match="on Linux only"):
        hub.check_server(tmp_path, MEMORY)
    monkeypatch.setattr(hub.sys, "platform", "linux")
    monkeypatch.setattr(hub.os, "geteuid", lambda: 1000, raising=False)
    with pytest.raises(ClassError, match="started by root.*use sudo"):
        hub.check_server(tmp_path, MEMORY)
    monkeypatch.setattr(hub.os, "geteuid", lambda: 0, raising=False)
    monkeypatch.setattr(hub.shutil, "which", lambda name: None)
    with pytest.raises(ClassError, match="not found on PATH: setpriv, prlimit, configurable-http-proxy"):
        hub.check_server(tmp_path, MEMORY)


def test_a_class_folder_that_learners_cannot_reach_is_told():
    require_hub()
    running = Hub(NAMES)
    try:
        running.folder.chmod(0o700)
        with pytest.raises(AssertionError, match=f"did not work: learners could not .*denied: '{running.folder}'"):
            running.start()
    finally:
        running.remove()


@needs_root
def test_a_learner_keeps_the_number_of_the_home_and_a_new_one_gets_the_next(tmp_path):
    numbers = [hub.account(tmp_path, name) for name in ("learner_1", "learner_2", "learner_1")]
    assert numbers == [hub.FIRST_UID, hub.FIRST_UID + 1, hub.FIRST_UID]
    home, kept = tmp_path / "homes" / "learner_2", tmp_path / "progress" / "learner_2.jsonl"
    assert [(path.stat().st_uid, path.stat().st_mode & 0o777) for path in (home, kept)] == [
        (hub.FIRST_UID + 1, 0o700), (hub.FIRST_UID + 1, 0o600),
    ]  # fmt: skip
    os.chown(home, 0, 0)
    with pytest.raises(ClassError, match="learner_2 belongs to user 0, not to a learner: restore it with its owner"):
        hub.account(tmp_path, "learner_2")


# ---------------------------------------------------------------- what teachers install


def test_the_service_starts_what_the_notes_for_teachers_start():
    folder = COURSE / "notebooks"
    service = (folder / "teaching" / "hub.service").read_text(encoding="utf-8")
    notes = (folder / "TEACHING.md").read_text(encoding="utf-8")
    assert re.search(r"^ExecStart=(.*)$", service, re.MULTILINE)[1] in notes.splitlines()
    assert f"cd {re.search('WorkingDirectory=(.*)', service)[1]} " in notes


def test_the_tests_use_the_versions_that_teachers_install():
    teaching, tests = (
        requirement_lines((COURSE / name / "requirements.txt").read_text(encoding="utf-8"))
        for name in ("notebooks/teaching", "tests")
    )
    assert teaching and set(teaching) <= set(tests)
