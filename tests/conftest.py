"""What several test files share: a browser, and a learner's JupyterLab to open in it."""

from __future__ import annotations

import pytest

from tests.support.lab import Lab, a_browser


@pytest.fixture(scope="module")
def browser():
    with a_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    """A server in a copy of the course: the learner's own notebooks stay as they are."""
    lab = Lab(tmp_path_factory.mktemp("lab"))
    lab.start()
    yield lab
    lab.stop()
