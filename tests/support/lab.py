"""Starts a browser and JupyterLab on loopback for the browser tests, and opens notebooks in them."""

from __future__ import annotations

import functools
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from course_lib import COURSE
from course_lib.classroom.places import BROWSERS

CHANNELS = ("chrome", "msedge")  # where Playwright knows the usual places of each system
COLD_START = 120_000  # milliseconds that a page or a kernel may take on a busy machine
STEP = 30_000  # and one step of a test
COMMAND = [sys.executable, "-m", "course_lib", "lab", "--no-browser"]  # tests/setup/test_setup.py holds README to it
PARTS = ("course_lib", "notebooks", "data", "labconfig", "pyproject.toml", "requirements.txt")
SET_FOR_TESTS = ("COURSE_PROGRESS", "PYTHONPATH", "OMP_NUM_THREADS")
SET_FOR_TESTS += ("JUPYTER_PATH", "JUPYTER_CONFIG_PATH", "JUPYTER_PREFER_ENV_PATH")
# JupyterLab's page shows its own parts, whose commands tell when a cell is done, if its configuration says so. The
# page of a learner's server is told so on its way, before its scripts run.
EXPOSE = """new MutationObserver((_, watcher) => {
    const data = document.getElementById('jupyter-config-data');
    if (!data || document.readyState === 'loading' && !data.nextSibling) return;
    data.textContent = JSON.stringify({...JSON.parse(data.textContent), exposeAppInBrowser: true});
    watcher.disconnect();
}).observe(document, {childList: true, subtree: true});"""

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Playwright


@contextmanager
def a_browser(*, fonts: bool = True) -> Iterator[Browser]:
    """An installed browser, headless; where none starts, the tests are skipped. Nothing is downloaded.

    Without `fonts` it finds, on Linux, none that has a letter: what a page does not bring along is not seen.
    """
    with browsers(fonts) as (browser,):
        yield browser


@contextmanager
def browsers(*fonts: bool) -> Iterator[list[Browser]]:
    """As many browsers, each with the fonts of the system or without."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    manager = sync_api.sync_playwright()
    try:
        playwright = manager.__enter__()
    except Exception as error:  # its driver, a Node.js of its own, ends at once
        pytest.skip(f"Playwright does not start ({error}): on a bare Debian or Ubuntu, apt install libatomic1")
    try:
        opened = [_launch(playwright, each) for each in fonts]
        yield opened
        for browser in opened:
            browser.close()
    finally:
        manager.__exit__(None, None, None)


def _launch(playwright: Playwright, fonts: bool) -> Browser:
    from playwright.sync_api import Error

    environ = {**os.environ, **({} if fonts else {"FONTCONFIG_FILE": f"{no_letters().name}/fonts.conf"})}
    paths = [path for name in BROWSERS if (path := shutil.which(name))]
    for way in [{"executable_path": path} for path in paths] + [{"channel": name} for name in CHANNELS]:
        try:
            return playwright.chromium.launch(headless=True, env=environ, **way)
        except Error:
            continue  # a name that starts nothing, such as the stub of a package that was not installed
    return pytest.skip("no browser found that starts: install Chromium, Chrome or Edge")


@functools.cache
def no_letters() -> tempfile.TemporaryDirectory:
    """A folder with fonts.conf for a system whose only font has no letter.

    With no font at all, Chromium 156 failed to load those of a page in about four of ten tries.
    """
    import matplotlib

    folder = tempfile.TemporaryDirectory(prefix="fonts")
    shutil.copy(Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSansDisplay.ttf"), folder.name)
    Path(folder.name, "fonts.conf").write_text(f"<fontconfig><dir>{folder.name}</dir></fontconfig>")
    return folder


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nothing listens on; all different."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Lab:
    """JupyterLab as a learner starts it: README's command, in a copy of the course that lies in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / "course_lib").exists():
            copy_course(folder)
        self.process = None

    def start(self) -> None:
        """Give the command and wait until it tells where the lessons are."""
        # Nothing that a learner has not: what `python3 -m course_lib test` sets for its tests is taken away again.
        environ = {key: value for key, value in os.environ.items() if key not in SET_FOR_TESTS}
        self.process = subprocess.Popen(
            COMMAND, cwd=self.folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
        )
        self.told = []
        for line in self.process.stdout:
            self.told.append(line.strip())
            if self.told[-1].startswith("To come back"):
                break
        lessons = [line for line in self.told if line.startswith("Lessons")]
        if not lessons:
            raise RuntimeError("JupyterLab did not start:\n" + "\n".join(self.told))
        address = urlsplit(lessons[0].split()[-1])
        self.address, self.query = f"{address.scheme}://{address.netloc}", address.query

    def stop(self) -> None:
        """End it, and with it its kernels."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()


def copy_course(folder: Path) -> None:
    """What a learner has after a download, without what this computer's own learner made of it."""
    for part in PARTS:
        one, ignored = COURSE / part, shutil.ignore_patterns(".*", "__pycache__")
        shutil.copytree(one, folder / part, ignore=ignored) if one.is_dir() else shutil.copy(one, folder)


class Notebook:
    """A notebook open in a page of its own; `errors` and `outside` keep what the page should never do."""

    def __init__(self, lab: Lab, browser: Browser, path: str, width: int = 1280, height: int = 900) -> None:
        self.page = browser.new_page(viewport={"width": width, "height": height})
        self.errors: list[str] = []  # what the console of the browser says
        self.outside: list[str] = []  # requests to other computers
        self.page.on("console", lambda said: said.type == "error" and self.errors.append(said.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._note)
        self.page.set_default_timeout(COLD_START)
        self.page.add_init_script(EXPOSE)
        self.page.goto(f"{lab.address}/lab/tree/{path}?{lab.query}&reset")
        self.page.wait_for_function("window.jupyterapp?.shell.currentWidget?.content?.widgets")
        self.js("Promise.all([app.restored, panel.context.ready, panel.revealed, panel.sessionContext.ready])")
        self.page.set_default_timeout(STEP)

    def _note(self, request) -> None:
        url = urlsplit(request.url)
        if url.scheme not in ("data", "blob") and url.hostname != "127.0.0.1":
            self.outside.append(request.url)

    def js(self, expression: str) -> Any:
        """What a JavaScript expression over `app`, JupyterLab, and `panel`, the notebook, gives in the end."""
        head = "const app = jupyterapp, panel = app.shell.currentWidget"
        return self.page.evaluate(f"async () => {{ {head}; return await ({expression}); }}")

    def command(self, name: str) -> Any:
        """Run a command of JupyterLab's menus to its end."""
        return self.js(f"app.commands.execute('{name}')")

    def cell(self, name: str) -> Locator:
        """The cell with that id, scrolled to."""
        place = self.js(f"panel.content.widgets.findIndex(cell => cell.model.id === '{name}')")
        self.js(f"panel.content.activeCellIndex = {place}")
        cell = self.page.locator(".jp-Notebook .jp-Cell").nth(place)
        cell.scroll_into_view_if_needed()
        return cell

    def run(self, name: str) -> Locator:
        """Run a cell and return it; it ends when the kernel has answered."""
        cell = self.cell(name)
        assert self.command("notebook:run-cell"), f"the cell {name} failed"
        return cell

    def close(self) -> None:
        """Shut the kernel down and close the page."""
        self.js("panel.sessionContext.shutdown()")
        self.page.close()
