"""What went wrong while the course was set up, and the cure that fits: one line for the learner."""

from __future__ import annotations

import re
import sys
from pathlib import Path

START = "start again"


class SetupError(Exception):
    """What is wrong and what to do about it, in one line for the learner; `said` is what a program wrote of it."""

    def __init__(self, problem: str, said: str = "") -> None:
        super().__init__(problem)
        self.said = said


# What pip and the system write, in lower case, and the cure. The first that fits is taken, so that a certificate,
# which pip also calls a lost connection, comes before the connection.
CURES = (
    (
        ("no space left on device", "[errno 28]", "disk quota exceeded", "[winerror 112]"),
        "the disk is full. Free some space and start again; what was downloaded to the end is not fetched again",
    ),
    (
        ("certificate verify failed", "certificate_verify_failed", "unable to get local issuer", "self-signed cert",
         "tls ca certificate bundle"),
        "the certificate of the package index is not known here, as in networks of companies and schools. Ask for "
        "the network's certificate, set PIP_CERT to the path of that file, and start again",
    ),
    (
        ("proxy authentication required", "error 407", "407 client error"),
        "the proxy wants a name and a password: set HTTPS_PROXY to http://NAME:PASSWORD@HOST:PORT and start again",
    ),
    (
        ("401 client error", "error 401", "403 client error", "error 403"),
        "the package index refused the request. If pip is set up for an index of your own (`pip config list` shows "
        "it), give it the name and password that it asks for, then start again",
    ),
    (
        ("do not match the hashes", "has wrong size", "bad zip", "badzipfile", "invalid wheel", "incompleteread"),
        "a download came damaged. Run `{python} -m pip cache purge`, then start again",
    ),
    (
        ("connection broken", "newconnectionerror", "failed to establish a new connection", "max retries",
         "name resolution", "getaddrinfo failed", "network is unreachable", "connecttimeout",
         "read timed out", "proxyerror", "connection refused", "connection reset", "connection aborted"),
        "no connection to the package index. Connect to the internet (or set a proxy) and start again",
    ),
    (
        ("long path support",),
        "the paths become too long for Windows. Move the course into a folder with a short path, such as "
        r"C:\course, and start again",
    ),
    (
        ("operation not supported", "unable to symlink", "[errno 95]"),
        "this disk cannot hold an environment, as some USB sticks and network folders. Copy the course to the "
        "computer's own disk and start again there",
    ),
    (
        ("[winerror 32]", "being used by another process", "text file busy"),
        "a file is in use. Close JupyterLab and all other programs that use the course, then start again",
    ),
    (
        ("failed building wheel", "failed to build", "subprocess-exited-with-error", "microsoft visual c++",
         "unable to find a compiler"),
        "a package has no ready-made build for Python {version} on this system. Start again with Python 3.11 or 3.12",
    ),
    (
        ("no matching distribution", "requires-python", "requires a different python"),
        "the package index has nothing that fits Python {version} on this system. If `pip config list` shows an "
        "index of your own, it may lack the package; otherwise start again with Python 3.11 or 3.12",
    ),
    (
        ("conflict", "resolutionimpossible"),
        "a setting of pip contradicts the versions that the course needs: `pip config list` and the variables "
        "PIP_… show it. Take it away and start again",
    ),
    (
        ("permission denied", "[errno 13]", "operation not permitted", "[errno 1]", "read-only file system",
         "[errno 30]", "[winerror 5]", "access is denied"),
        "a file may not be written. If another user made it (once started with sudo?), give it back with "
        "`sudo chown -R \"$USER\" .`, or copy the course to a folder of your own and start again there",
    ),
    (
        ("no module named pip", "no module named 'pip"),
        "the environment .venv is damaged. Delete the folder .venv and start again",
    ),
)  # fmt: skip


def explain(text: str, doing: str) -> str:
    """One line that says what went wrong and what to do, out of what pip or the system wrote."""
    written = text.lower()
    words = {"version": "{}.{}".format(*sys.version_info[:2]), "python": sys.executable}
    cure = next((cure for signs, cure in CURES if any(sign in written for sign in signs)), None)
    return f"{doing} failed: {cure.format(**words) if cure else reason(text)}."


def reason(text: str) -> str:
    """The line of a program's output that most likely says why it stopped, without a full stop."""
    lines = [re.sub(r"^\[\w \S+ \S+ \w+\] ", "", line.strip()) for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(\w*error|fatal|could not|bad config)\b", line, re.IGNORECASE)]
    return (errors or lines or ["no reason was given"])[-1].rstrip(".")


def ending(text: str, file: Path, lines: int = 12) -> str:
    """The last lines that a program wrote, indented, and the file where all of them are."""
    found = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join([f"It said, at the end (all of it: {file}):", *("    " + line for line in found[-lines:])])
