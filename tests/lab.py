"""Starts a browser and JupyterLab on loopback for the browser tests, and opens notebooks in them."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from course_lib.__main__ import course_environ
from course_lib.classroom.places import BROWSERS

CHANNELS = ("chrome", "msedge")  # where Playwright knows the usual places of each system
COLD_START = 120_000  # milliseconds that a page or a kernel may take on a busy machine
STEP = 30_000  # and one step of a test
TOKEN = "browser-tests"

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Playwright


def launch(playwright: Playwright) -> Browser:
    """Return an installed browser, headless; without one the tests are skipped. Nothing is downloaded."""
    from playwright.sync_api import Error

    paths = [path for name in BROWSERS if (path := shutil.which(name))]
    for way in [{"executable_path": path} for path in paths] + [{"channel": name} for name in CHANNELS]:
        try:
            return playwright.chromium.launch(headless=True, **way)
        except Error:
            continue  # a name that starts nothing, such as the stub of a package that was not installed
    return pytest.skip("no browser found that starts: install Chromium, Chrome or Edge")


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nothing listens on; all different."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Lab:
    """JupyterLab as `python3 -m course_lib lab` starts it, with everything it writes under `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = None

    def start(self) -> None:
        """Start the server on a free port and wait until it answers."""
        self.address = f"http://127.0.0.1:{free_ports(1)[0]}"
        places = {f"JUPYTER_{kind}_DIR": str(self.folder / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
        places["IPYTHONDIR"] = str(self.folder / "ipython")
        options = {
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": self.address.rpartition(":")[2],
            "ServerApp.port_retries": 0,
            "ServerApp.open_browser": False,
            "ServerApp.allow_root": True,
            "ServerApp.root_dir": self.folder,
            "IdentityProvider.token": TOKEN,
            "LabApp.expose_app_in_browser": True,  # its commands tell when a cell is done
            "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        }
        self.log = (self.folder / "server.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in options.items())],
            env=course_environ(COURSE_PROGRESS=str(self.folder / "events.jsonl"), **places),
            cwd=self.folder,
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )
        deadline = time.monotonic() + COLD_START / 1000
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError("JupyterLab did not start:\n" + (self.folder / "server.log").read_text()[-3000:])
            time.sleep(0.1)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/api/status?token={TOKEN}", timeout=5):
                return True
        except OSError:
            return False

    def stop(self) -> None:
        """End the server and with it its kernels."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Notebook:
    """A notebook open in a page of its own; `errors` and `outside` keep what the page should never do."""

    def __init__(self, lab: Lab, browser: Browser, path: str) -> None:
        self.page = browser.new_page(viewport={"width": 1280, "height": 900})
        self.errors: list[str] = []  # what the console of the browser says
        self.outside: list[str] = []  # requests to other computers
        self.page.on("console", lambda said: said.type == "error" and self.errors.append(said.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._note)
        self.page.set_default_timeout(COLD_START)
        self.page.goto(f"{lab.address}/lab/tree/{path}?token={TOKEN}&reset")
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
