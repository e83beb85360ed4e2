"""The learner's record: one line an event, whatever happens to the file."""

from __future__ import annotations

import errno
import getpass
import json
import os
import subprocess
import sys

import pytest

from course_lib import COURSE, progress


@pytest.fixture
def place(monkeypatch, tmp_path):
    path = tmp_path / "kept" / "events.jsonl"
    monkeypatch.setenv("COURSE_PROGRESS", str(path))
    monkeypatch.setattr(progress, "_warned", False)
    return path


def names():
    return [event["name"] for event in progress.events()]


def test_events_are_written_and_read_in_order(place):
    progress.record("check", "patchify", passed=False, diagnosis="reshape alone")
    progress.record("hint", "patchify", number=1)
    progress.record("check", "patchify", passed=True, diagnosis=None)
    progress.record("check", "one_hot", passed=False, diagnosis=None)
    assert [event["kind"] for event in progress.events()] == ["check", "hint", "check", "check"]
    assert progress.solved() == {"patchify"} and progress.tries() == {"patchify": 2, "one_hot": 1}
    lines = place.read_bytes().split(b"\n")
    assert lines[-1] == b"" and len(lines) == 5 and all(json.loads(line)["time"] for line in lines[:-1])


def test_nothing_is_there_before_the_first_event(place):
    assert names() == [] and progress.solved() == set() and progress.tries() == {} and not place.exists()


def test_a_line_torn_by_a_kill_stays_and_the_next_event_is_readable(place):
    progress.record("check", "one", passed=True)
    with place.open("ab") as file:
        file.write(b'{"time": "2031-01-01", "kind": "check", "na')
    assert names() == ["one"]
    progress.record("check", "two", passed=True)
    progress.record("check", "three", passed=True)
    assert names() == ["one", "two", "three"]
    assert b'"kind": "check", "na\n' in place.read_bytes()


def test_a_kill_in_the_middle_of_a_write_costs_one_event_at_most(place):
    code = (
        "import os, course_lib.progress as p\n"
        "p.record('check', 'before', passed=True)\n"
        "write = os.write\n"
        "def torn(handle, data):\n    write(handle, data[:len(data) // 2]); os._exit(9)\n"
        "os.write = torn\n"
        "p.record('check', 'lost', passed=True)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PYTHONPATH=str(COURSE)), check=False)
    assert ended.returncode == 9
    assert not place.read_bytes().endswith(b"\n")
    progress.record("check", "after", passed=True)
    assert names() == ["before", "after"]


def test_two_processes_write_at_once_and_every_event_is_readable(place):
    code = (
        "import sys, course_lib.progress as p\n"
        "for number in range(200):\n"
        "    p.record('check', f'{sys.argv[1]}{number}', passed=True, diagnosis='ü' * number)\n"
    )
    env = dict(os.environ, PYTHONPATH=str(COURSE))
    writers = [subprocess.Popen([sys.executable, "-c", code, letter], env=env) for letter in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    got = names()
    assert len(got) == 400 and set(got) == {f"{letter}{number}" for letter in "ab" for number in range(200)}
    assert [name for name in got if name[0] == "a"] == [f"a{number}" for number in range(200)]


@pytest.mark.parametrize(
    "line",
    [
        b"hello",
        b"[1, 2]",
        b"3",
        b"null",
        b'"text"',
        b"{}",
        b'{"kind": "check"}',
        b'{"kind": 3, "name": "x"}',
        b'{"kind": "check", "name": null}',
        b"\x00\xff\xfe\x80\x81",
        b"",
        b"\r",
        b"{" * 5_000,
        b"[" * 200_000,
        b"1" * 10_000,
        b"NaN",
    ],
)
def test_foreign_lines_and_binary_rubbish_are_skipped_and_kept(place, line):
    progress.record("check", "one", passed=True)
    with place.open("ab") as file:
        file.write(line + b"\n")
    progress.record("check", "two", passed=True)
    assert names() == ["one", "two"]
    assert line in place.read_bytes()


def test_a_passed_that_is_not_true_does_not_count_as_solved(place):
    progress.record("check", "one", passed="true")
    progress.record("hint", "two", passed=True)
    assert progress.solved() == set()


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_a_place_that_cannot_be_written_is_told_once(place, monkeypatch, capsys, number):
    def refuse(*args, **options):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(progress.os, "open", refuse)
    for _ in range(3):
        progress.record("check", "patchify", passed=True)
    said = capsys.readouterr().out
    assert said.count("Your progress cannot be kept") == 1
    assert str(place) in said and os.strerror(number) in said and "COURSE_PROGRESS" in said


def test_a_full_disk_in_the_middle_of_a_write_is_told(place, monkeypatch, capsys):
    def refuse(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(progress.os, "write", refuse)
    progress.record("check", "patchify", passed=True)
    assert "cannot be kept" in capsys.readouterr().out


def test_a_path_below_a_file_is_told_and_a_check_goes_on(monkeypatch, tmp_path, capsys):
    from course_lib.checking import check
    from course_lib.exercises import find

    (tmp_path / "file").write_text("x", encoding="utf-8")
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "file" / "events.jsonl"))
    monkeypatch.setattr(progress, "_warned", False)
    assert check(find("patchify").solution).passed and check(find("one_hot").solution).passed
    assert capsys.readouterr().out.count("Your progress cannot be kept") == 1
    assert names() == []


def test_a_folder_in_place_of_the_file_is_told(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path))
    monkeypatch.setattr(progress, "_warned", False)
    progress.record("check", "patchify", passed=True)
    assert "cannot be kept" in capsys.readouterr().out and names() == []


@pytest.mark.parametrize("word", ["off", "OFF", "Off"])
def test_off_writes_nothing(monkeypatch, tmp_path, word):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COURSE_PROGRESS", word)
    progress.record("check", "patchify", passed=True)
    assert progress.file() is None and names() == [] and list(tmp_path.iterdir()) == []


def test_without_the_variable_the_course_folder_is_the_place(monkeypatch):
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    assert progress.file() == COURSE / ".progress" / "events.jsonl"


def test_spaces_and_letters_of_all_kinds_in_path_and_text(monkeypatch, tmp_path):
    path = tmp_path / "ein Ordner mit ü, ζ" / "mein Fortschritt.jsonl"
    monkeypatch.setenv("COURSE_PROGRESS", str(path))
    progress.record("quiz", "größe", answer="C·P·P − 1\nline\r\u2028end")
    assert [event["answer"] for event in progress.events()] == ["C·P·P − 1\nline\r\u2028end"] and path.exists()
    assert path.read_bytes().count(b"\n") == 1


def test_an_event_holds_no_user_name(place):
    progress.record("check", "patchify", passed=False, diagnosis="reshape alone")
    event = json.loads(place.read_text(encoding="utf-8"))
    assert set(event) == {"time", "kind", "name", "passed", "diagnosis"}
    assert getpass.getuser() not in json.dumps(event)


# ---------------------------------------------------------------- seen and deleted by its owner


def test_the_owner_sees_all_that_is_kept(place):
    assert progress.show() == f"No progress is kept yet. It will be in {place}"
    progress.record("check", "patchify", passed=False, diagnosis="reshape alone")
    progress.record("check", "patchify", passed=True, diagnosis=None)
    with place.open("ab") as file:
        file.write(b"torn")
    first, one, two, unread, how = progress.show().splitlines()
    assert first == f"Your progress, 2 events in {place}" and unread == "and 1 that cannot be read"
    assert one.split("  ", 1)[1] == "check     patchify  passed False, diagnosis reshape alone"
    assert two.endswith("patchify  passed True") and "--delete" in how


def test_the_owner_deletes_it_and_goes_on(place):
    assert progress.delete() == "There is no progress to delete."
    progress.record("hint", "patchify", number=1)
    assert progress.delete() == f"Deleted: your progress, 1 event in {place}"
    assert not place.exists() and names() == []
    progress.record("hint", "project", number=1)
    assert names() == ["project"]


def test_where_none_is_kept_none_is_shown_or_deleted(monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    assert progress.show() == "No progress is kept: COURSE_PROGRESS is off."
    assert progress.delete() == "There is no progress to delete."


def test_the_command_shows_and_deletes(place, capsys):
    progress.record("hint", "patchify", number=1)
    assert progress.main([]) == 0 and "patchify" in capsys.readouterr().out
    assert progress.main(["--all"]) == 2 and "expected nothing or --delete, got --all" in capsys.readouterr().err
    assert progress.main(["--delete"]) == 0 and not place.exists()


# ---------------------------------------------------------------- bad days

ANSWER = """
import os
from course_lib.checking import check
from course_lib.exercises import find

def project(patches, weight, bias):
    if {dies}:
        os._exit(9)
    return patches @ weight.T + bias

print(check(project).passed, flush=True)
"""


def answered(place, dies, **environment):
    """A check in a process of its own, whose answer may end that process."""
    environment = {**os.environ, "PYTHONPATH": str(COURSE), "COURSE_PROGRESS": str(place), **environment}
    return subprocess.run(
        [sys.executable, "-c", ANSWER.format(dies=dies)], env=environment, capture_output=True, text=True
    )


def test_an_answer_that_kills_the_kernel_leaves_the_record_whole(place):
    progress.record("hint", "project", number=1)
    assert answered(place, dies=True).returncode == 9
    assert names() == ["project"] and progress.solved() == set()
    assert answered(place, dies=False).stdout == "True\n"
    assert progress.solved() == {"project"}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs Linux' device that is always full")
def test_a_check_on_a_full_disk_answers_and_says_that_progress_is_lost():
    done = answered("/dev/full", dies=False)
    assert done.returncode == 0 and done.stdout.endswith("True\n")
    assert "Your progress cannot be kept: /dev/full is not writable (No space left on device)" in done.stdout


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root may mount a small disk")
def test_a_small_disk_that_fills_up_keeps_what_was_there(tmp_path):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", str(tmp_path)], capture_output=True).returncode:
        pytest.skip("this system lets nobody mount a disk")
    try:
        path = tmp_path / "events.jsonl"
        assert answered(path, dies=False).stdout == "True\n"
        (tmp_path / "filler").write_bytes(b"x" * (4096))
        path.write_bytes(path.read_bytes() + b"x" * (4096 - path.stat().st_size - 5))
        done = answered(path, dies=False)
        assert done.returncode == 0 and "No space left on device" in done.stdout
        assert [event["name"] for event in progress.events(path)] == ["project"]
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
