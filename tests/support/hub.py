"""Starts JupyterHub with the course's configuration on loopback for the tests, and works in it as learners do."""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import psutil
import pytest
import requests
import websocket

from course_lib import COURSE
from course_lib.classroom import hub
from course_lib.classroom.places import ClassError
from tests.support.lab import free_ports

CONFIG = COURSE / "notebooks" / "teaching" / "jupyterhub_config.py"
MEMORY = 3 << 30  # bytes for a learner as a whole, as the configuration says
PATIENCE = 120  # seconds that a start may take on a busy machine


def missing() -> str:
    """Why no hub can be started here, or an empty text."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "a hub for a class is started by root on Linux"
    if not all(map(importlib.util.find_spec, ("jupyterhub", "firstuseauthenticator"))):
        return "jupyterhub is not installed: pip install -r tests/requirements.txt"
    if not shutil.which("configurable-http-proxy"):
        return "the hub's proxy was not found: npm install --global configurable-http-proxy"
    return ""


def require_hub() -> None:
    """Skip where no hub can be started; where CI is set, fail, since a skipped test proves nothing there."""
    reason = missing()
    if reason:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


def closed_folders() -> list[Path]:
    """Folders on the way to Python or to the course that other users may not pass, such as /root; outermost first."""
    places = {COURSE, Path(sys.executable), *map(Path, [sys.prefix, sys.base_prefix, *filter(None, sys.path)])}
    ways = {way for place in places for way in (place, *place.parents, *place.resolve().parents)}
    return sorted(way for way in ways if way.is_dir() and not way.stat().st_mode & 0o001)


def opened(folder: Path) -> list[str]:
    """The start of a command for which closed folders are open, in a view of the files that nothing else has.

    An overlay in memory, which needs `folder`, holds the other permissions: on the disk nothing changes.
    """
    closed = closed_folders()
    if not closed:
        return []
    lines = ["set -e", f"mount -t tmpfs none {folder}", f"mkdir {folder}/upper {folder}/work"]
    layers = f"lowerdir={closed[0]},upperdir={folder}/upper,workdir={folder}/work"
    lines += [f"mount -t overlay overlay -o {layers} {closed[0]}", "chmod a+rx " + " ".join(map(str, closed))]
    return ["unshare", "--mount", "sh", "-c", "\n".join([*lines, 'exec "$@"']), "sh"]


def wait_for(condition, what: str):
    """What `condition` gives once it is true; AssertionError where it never gets so."""
    deadline = time.monotonic() + PATIENCE
    while not (result := condition()):
        assert time.monotonic() < deadline, f"waited {PATIENCE} s in vain: {what}"
        time.sleep(0.05)
    return result


class Hub:
    """JupyterHub and its proxy as a teacher starts them, with a class folder of their own."""

    def __init__(self, names: list[str]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="course-hub-"))
        self.folder.chmod(0o711)
        self.address, self.process = "", None
        self.write_list(names)

    def write_list(self, names: list[str]) -> None:
        (self.folder / "class.txt").write_text("# the class\n\n" + "\n".join(names) + "\n", encoding="utf-8")

    def start(self, *options: str) -> None:
        """Start the hub on free ports and wait until its proxy answers."""
        own, inner, api = free_ports(3)
        self.address = f"http://127.0.0.1:{own}"
        options = (
            f"--JupyterHub.bind_url={self.address}",
            f"--JupyterHub.hub_port={inner}",
            f"--ConfigurableHTTPProxy.api_url=http://127.0.0.1:{api}",
            *options,
        )
        view = self.folder / "view"
        view.mkdir(exist_ok=True)
        command = [
            "setpriv",
            "--pdeathsig",
            "TERM",
            *opened(view),
            sys.executable,
            "-m",
            "jupyterhub",
            "--config",
            str(CONFIG),
            *options,
        ]
        with (self.folder / "hub.log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_for(self._answers, "the hub does not answer")
        except BaseException:
            self.stop()
            raise

    def _answers(self) -> bool:
        assert self.process.poll() is None, "the hub did not start:\n" + self.log()
        try:
            return requests.get(f"{self.address}/hub/health", timeout=5).ok
        except requests.ConnectionError:
            return False

    def log(self) -> str:
        return (self.folder / "hub.log").read_text(errors="replace")[-4000:]

    def stop(self) -> None:
        """End the hub, its proxy, and the servers and kernels of the learners."""
        if self.process is None:
            return
        ours = psutil.Process(self.process.pid).children(recursive=True) if self.process.poll() is None else []
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for left in psutil.wait_procs(ours, timeout=5)[1]:
            left.kill()
        psutil.wait_procs(ours, timeout=5)

    def remove(self) -> None:
        self.stop()
        for uid in {hub.FIRST_UID, *(home.stat().st_uid for home in self.folder.glob("homes/*"))}:
            with contextlib.suppress(OSError, ClassError):  # not made yet, or in use by a class on this computer
                hub.memory_group(uid, MEMORY).rmdir()
        shutil.rmtree(self.folder)


class Learner:
    """A learner's browser: it logs in, starts the own server, and runs code in a kernel."""

    def __init__(self, running: Hub, name: str) -> None:
        self.hub, self.name = running, name
        self.session = requests.Session()

    @property
    def base(self) -> str:
        return f"{self.hub.address}/user/{self.name}"

    def login(self, password: str) -> bool:
        """Whether name and password are taken."""
        place = f"{self.hub.address}/hub/login"
        self.session.get(place)
        form = {"username": self.name, "password": password, "_xsrf": self._mark("/hub/")}
        return self.session.post(place, data=form, allow_redirects=False).status_code == 302

    def _mark(self, path: str) -> str:
        """What shows a server that a request comes from its own page."""
        return next(one.value for one in self.session.cookies if (one.name, one.path) == ("_xsrf", path))

    def start(self) -> None:
        """Start the own server and wait until JupyterLab's page comes."""
        self.session.get(f"{self.hub.address}/hub/spawn/{self.name}")
        wait_for(self._has_a_lab, f"no server for {self.name}:\n{self.hub.log()}")

    def _has_a_lab(self) -> bool:
        page = self.session.get(f"{self.base}/lab")
        return page.ok and page.url.startswith(self.base)

    def ask(self, method: str, path: str, **content) -> requests.Response:
        """The answer of a Jupyter server to a request of its page."""
        marked = {"X-XSRFToken": self._mark(f"/user/{self.name}/")}
        return self.session.request(method, f"{self.base}/api/{path}", headers=marked, **content)

    def open(self, notebook: str) -> None:
        """Open a lesson with a kernel of its own, where `run` runs code from now on."""
        wanted = {"path": f"notebooks/{notebook}", "name": "", "type": "notebook", "kernel": {"name": "python3"}}
        answer = self.ask("POST", "sessions", json=wanted)
        assert answer.ok, answer.text
        address = f"{self.base}/api/kernels/{answer.json()['kernel']['id']}/channels"
        cookie = self.session.prepare_request(requests.Request("GET", address)).headers["Cookie"]
        self.line = websocket.create_connection(address.replace("http", "ws", 1), cookie=cookie, timeout=PATIENCE)

    def another(self, notebook: str) -> Learner:
        """The same learner in a second lesson."""
        same = copy.copy(self)
        same.open(notebook)
        return same

    def run(self, code: str) -> str:
        """What a cell prints and shows as text, the name and message of its error, or that the kernel died."""
        asked, shown = uuid.uuid4().hex, []
        header = {"msg_id": asked, "msg_type": "execute_request", "session": asked, "username": "", "version": "5.3"}
        content = {"code": code, "silent": False, "store_history": True, "stop_on_error": True}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        self.line.send(json.dumps(message))
        while True:
            answer = json.loads(self.line.recv())
            if answer["content"].get("execution_state") in ("restarting", "autorestarting", "dead"):
                return "the kernel died"
            if answer["parent_header"].get("msg_id") != asked:
                continue
            kind, content = answer["header"]["msg_type"], answer["content"]
            if kind == "stream":
                shown.append(content["text"])
            elif kind in ("execute_result", "display_data"):
                shown.append(content["data"].get("text/plain", ""))
            elif kind == "error":
                shown.append(f"{content['ename']}: {content['evalue']}")
            elif kind == "status" and content["execution_state"] == "idle":
                return "".join(shown).strip()
