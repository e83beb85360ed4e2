"""The worst day, again for every lesson, and the table of all days."""

from __future__ import annotations

import subprocess
import sys

from tests.support.notebook_runs import NOTEBOOKS, each
from tests.tools.bad_days import DAYS, NO_NETWORK, TABLE, WORST, outcome


@each(NOTEBOOKS)
def test_on_the_worst_day_a_lesson_shows_what_is_stored(path):
    assert outcome(path, WORST) == "as stored"


def test_the_table_holds_every_day_and_every_lesson():
    rows = [line.strip("| ").split(" | ") for line in TABLE.read_text(encoding="utf-8").splitlines()[7:]]
    assert [row[0] for row in rows[:-1]] == [day.name for day in (*DAYS, WORST)]
    assert {row[1] for row in rows} == {str(len(NOTEBOOKS))}
    assert {row[2] for row in rows[:-1]} == {"each as stored"}


def test_without_network_no_other_computer_answers():
    tries = "import urllib.request; urllib.request.urlopen('http://192.0.2.1/', timeout=5)"
    done = subprocess.run([sys.executable, "-c", NO_NETWORK + tries], capture_output=True, text=True)
    assert "no network on this day: 192.0.2.1" in done.stderr
