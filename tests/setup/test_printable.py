"""Text that others wrote is printed so that it can be seen, and does nothing else; a poor terminal ends nothing."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import unicodedata

import pytest

from course_lib import COURSE, doctor, leaderboard, progress
from course_lib.authoring.notebooks import main as refresh_main
from course_lib.classroom.commands import main as class_main
from course_lib.classroom.overview import class_picture, overview, read_record
from course_lib.setup.printable import cell, printable
from course_lib.setup.server import environ

EVIL = "\x1b[2J\x07\r\n\t\u202e\u2066\u2028\u0085\u200b\x9b\ufeff\udc80"  # erases, rings, feigns lines, turns letters
posix = pytest.mark.skipif(os.name == "nt", reason="names that Windows does not allow")


def is_harmless(text: str) -> bool:
    return not [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c != "\n"]


@pytest.fixture
def evil_record(tmp_path, monkeypatch):
    """The own record, with the evil text in every place."""
    path = tmp_path / "events.jsonl"
    event = {"time": EVIL, "kind": "check", "passed": False, "diagnosis": EVIL + "reshape", EVIL: EVIL}
    lines = [{**event, "name": "patchify"}, {**event, "kind": EVIL, "name": EVIL, "diagnosis": [EVIL]}]
    lines.append({**event, "kind": "try", "name": EVIL, "accuracy": 0.5, "parameters": 3, "seconds": 1})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    monkeypatch.setenv("COURSE_PROGRESS", str(path))
    return path


def test_what_cannot_be_seen_is_shown_and_letters_stay():
    assert printable("a\x1b[2Jb\nc\u202ed\u2028e\udc80") == "a\\x1b[2Jb\\nc\\u202ed\\u2028e\\udc80"
    assert printable(COURSE / "data") == str(COURSE / "data")
    for name in ("Zoë Łuk", "李雷", "نرگس‌خاتون", "क्‍ष", "日本", "😀"):
        assert printable(name) == name


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "  =1", "\t=1", "\r=1", "＝1"])
def test_no_spreadsheet_takes_a_cell_for_a_formula(text):
    assert cell(text).lstrip()[0] not in "=+-@＝＋－＠" and cell(text).lstrip("'").strip() == printable(text).strip()
    assert cell("Anna = 1") == "Anna = 1"


@posix
def test_the_overview_of_evil_records_is_harmless(evil_record, tmp_path, capsys):
    foe = tmp_path / f"={EVIL[:-1]}$x$.jsonl"
    foe.write_bytes(evil_record.read_bytes())
    overview([foe], tmp_path / "class.csv", tmp_path / "class.png")
    told = capsys.readouterr().out
    assert is_harmless(told) and "reshape" in told and "\\x1b[2J" in told
    text = (tmp_path / "class.csv").read_text(encoding="utf-8")
    assert is_harmless(text)
    assert [row["learner"][:3] for row in csv.DictReader(text.splitlines())] == ["'=\\"]


def test_a_dollar_in_a_name_is_no_formula_of_the_picture(evil_record):
    done = read_record(evil_record)
    assert class_picture({"$x^$ a_$b$": done, r"$\bad": done}, ["patchify"]).png.startswith(b"\x89PNG")


@pytest.mark.filterwarnings("error")
def test_a_long_name_leaves_room_for_the_picture(evil_record):
    done = read_record(evil_record)
    assert class_picture({"a long name " * 20: done}, ["patchify"]).png.startswith(b"\x89PNG")


@posix
def test_an_error_of_a_command_for_teachers_is_one_harmless_line(tmp_path, capsys):
    assert class_main(["overview", str(tmp_path / EVIL[:-1])]) == 1
    told = capsys.readouterr().err
    assert is_harmless(told) and "there is no file" in told and told.count("\n") == 1


@posix
def test_refresh_names_an_evil_file_harmlessly(tmp_path, capsys):
    assert refresh_main([str(tmp_path / (EVIL[:-1] + ".ipynb"))]) == 1
    assert is_harmless(capsys.readouterr().err)


def test_an_evil_record_of_progress_is_shown_harmlessly(evil_record):
    assert not is_harmless(EVIL)
    assert is_harmless(progress.show()) and progress.show().count("\n") == 4
    assert progress.show().count("\\x1b[2J") >= 9
    assert is_harmless(repr(leaderboard.leaderboard())) and "50.0%" in repr(leaderboard.leaderboard())


@posix
def test_paths_in_messages_on_progress_are_harmless(monkeypatch, tmp_path, capsys):
    place = tmp_path / EVIL[:-1] / "events.jsonl"
    monkeypatch.setenv("COURSE_PROGRESS", str(place))
    monkeypatch.setattr(progress, "_warned", False)
    told = progress.show()
    progress.record("check", "patchify", passed=True)
    told += progress.show() + progress.delete()
    place.parent.rmdir()
    place.parent.write_text("in the way")
    progress.record("check", "patchify", passed=True)
    progress.main([EVIL])
    written = capsys.readouterr()
    assert "cannot be kept" in written.out
    assert is_harmless(told + written.out + written.err)


def test_the_report_of_the_doctor_is_harmless(monkeypatch):
    monkeypatch.setattr(doctor, "_data", lambda: [("problem", "data", EVIL)])
    monkeypatch.setattr(doctor, "_imports", lambda: None)
    assert is_harmless(doctor.report()) and "\\x1b[2J" in doctor.report()


@pytest.fixture
def strange_record(evil_record, tmp_path):
    """A record under a name that hardly any old terminal can show."""
    path = tmp_path / "Łukasz ×.jsonl"
    path.write_bytes(evil_record.read_bytes())
    return path


@pytest.mark.parametrize("encoding", ["cp437", "cp1252", "ascii"])
def test_every_command_prints_in_any_terminal(strange_record, encoding, tmp_path):
    variables = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONPATH": str(COURSE), "OMP_NUM_THREADS": "1"}
    commands = [
        (["class", "overview", str(strange_record)], 0, b"patchify"),
        (["class", "overview", str(tmp_path / "Ł.jsonl")], 1, b"there is no file"),
        (["refresh", str(tmp_path / "Ł.ipynb")], 1, b"there is no file"),
        (["progress"], 0, b"Your progress"),
    ]
    for arguments, code, told in commands:
        done = subprocess.run([sys.executable, "-m", "course_lib", *arguments], env=variables, cwd=COURSE,
                              capture_output=True)  # fmt: skip
        assert done.returncode == code, (arguments, done.stderr)
        assert told in done.stdout + done.stderr and b"UnicodeEncodeError" not in done.stderr


@pytest.mark.parametrize("encoding", ["cp437", "cp1252", "ascii"])
def test_the_doctor_prints_in_any_terminal(encoding, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    code = "from course_lib import doctor; doctor.report = lambda: 'problem  data  Łódź ×'; print(doctor.main())"
    done = subprocess.run([sys.executable, "-c", code], env=environ(sys.executable), cwd=COURSE, capture_output=True)
    assert done.stderr == b"" and done.stdout.split()[-1] == b"1" and b"problem  data  ?" in done.stdout


def test_how_errors_of_a_terminal_are_treated_stays_as_it_was_asked_for(monkeypatch):
    for asked, given in (("", ":replace"), ("cp437", "cp437:replace"), ("ascii:backslashreplace",) * 2):
        monkeypatch.setenv("PYTHONIOENCODING", asked)
        assert environ(sys.executable)["PYTHONIOENCODING"] == given
