"""A machine with Python and nothing else: what both commands say before the installation."""

from __future__ import annotations

import pytest

pytest.importorskip("pty", reason="a bare root file system needs Linux")
from tests import fresh
from tests.bare_root import lacking


@pytest.mark.skipif(bool(lacking()), reason=lacking())
def test_on_a_bare_debian_root_and_a_learner_are_told_what_is_missing(tmp_path, capsys):
    try:
        code = fresh.main(["start", "--log", str(tmp_path / "log")])
    except RuntimeError as error:
        pytest.skip(f"no bare Debian could be made: {error}")
    lines = capsys.readouterr().out.splitlines()
    tries = [line.split()[:2] for line in lines[1:-1]]
    assert code == 0 and lines[-1] == "all work", "\n".join(lines)
    assert [state for state, _ in tries] == ["works"] * 13
    assert [user for _, user in tries].count("learner") == 6
