"""A bare Debian in a folder: commands run in it as on a machine where nothing was installed. Standard library only.

It needs Linux, root and debootstrap. Each command gets mounts and processes of its own, which end with it, so that
nothing stays behind but the folder. Of this machine it takes over only the way to packages: certificates, proxies,
and what pip was told.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from course_lib import COURSE

LEARNER = "learner"
MIRROR = "http://deb.debian.org/debian"
PATHS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PIP_SETTINGS = ("/etc/pip.conf", "/etc/xdg/pip")
OWN_SETTINGS, OWN_SETTINGS_INSIDE = Path.home() / ".config" / "pip" / "pip.conf", "/etc/own-pip.conf"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")  # a company's own among them
CERTIFICATES_INSIDE = "/etc/certificates.crt"  # where no package of Debian replaces them
ENTER = """
set -e
root=$1 user=$2 folders=$3; shift 3
mount -t proc proc "$root/proc"
for folder in /dev /sys $folders; do
    mkdir -p "$root$folder"
    mount --rbind "$folder" "$root$folder"
done
for folder in $folders; do mount -o remount,bind,ro "$root$folder"; done
ip link set lo up || true  # without a network, this machine still reaches itself
# No exec: this shell is the first process, and stays root, so that --kill-child reaches it, and with it all others.
trap : INT  # what Ctrl-C means is up to the command
code=0
chroot --userspec="$user" "$root" "$@" || code=$?
exit $code
"""


def lacking() -> str:
    """What this machine lacks to make a bare root, or an empty text."""
    tools = [name for name in ("debootstrap", "unshare", "chroot", "git", "ip") if not shutil.which(name)]
    if tools:
        return f"{', '.join(tools)} not found: on Debian and Ubuntu, apt install debootstrap util-linux iproute2 git"
    return "" if os.geteuid() == 0 else "only root may make a root file system: start it with sudo"


class BareRoot:
    """A root file system in a folder; `binds`, folders of this machine, can be read inside at their places."""

    def __init__(self, folder: Path, binds: list[str]) -> None:
        self.folder, self.binds = folder, binds

    def make(self, suite: str, mirror: str, packages: list[str]) -> None:
        """Fill it with a release of Debian, and no more packages than these need; RuntimeError where it fails."""
        options = ["--variant=minbase", "--include=" + ",".join(packages)]
        self._do(["debootstrap", *options, suite, str(self.folder), mirror])
        shutil.copy("/etc/hosts", self.folder / "etc" / "hosts")
        self._take_over(CERTIFICATES, Path(CERTIFICATES_INSIDE))
        for name in PIP_SETTINGS:
            self._take_over(Path(name), Path(name))
        self._take_over(OWN_SETTINGS, Path(OWN_SETTINGS_INSIDE))

    def add_learner(self) -> None:
        """An ordinary user."""
        self._do(["chroot", str(self.folder), "useradd", "--create-home", "--shell", "/bin/sh", LEARNER])

    @staticmethod
    def _do(command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
        if done.returncode:
            raise RuntimeError(f"{command[0]} failed: " + "\n".join((done.stdout + done.stderr).splitlines()[-5:]))

    def _take_over(self, here: Path, there: Path) -> None:
        place = self.folder / there.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if here.is_dir():
            shutil.copytree(here, place)
        elif here.is_file():
            shutil.copy(here, place)

    def home(self, user: str) -> str:
        """The home of a user, as it is called inside."""
        return "/root" if user == "root" else f"/home/{user}"

    def clone(self, user: str) -> str:
        """A git clone of the last commit of the course in the user's home; returns its place inside."""
        inside = f"{self.home(user)}/course"
        self._do(["git", "clone", "--quiet", "--no-hardlinks", str(COURSE), str(self.folder) + inside])
        self._do(["chroot", str(self.folder), "chown", "-R", f"{user}:", inside])
        return inside

    def command(
        self, user: str, folder: str, arguments: list[str], network: bool = True, **variables: str
    ) -> list[str]:
        """The command line that runs `arguments` inside, as `user` in `folder`, with an empty environment."""
        ways = {name: value for name, value in os.environ.items() if re.match("PIP_|.*_proxy$", name, re.IGNORECASE)}
        if CERTIFICATES.exists():
            ways |= dict.fromkeys(("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"), CERTIFICATES_INSIDE)
        if OWN_SETTINGS.exists():
            ways["PIP_CONFIG_FILE"] = OWN_SETTINGS_INSIDE
        passed = {**ways, "HOME": self.home(user), "PATH": PATHS, "TERM": "dumb", **variables}
        alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child"] + ([] if network else ["--net"])
        enter = ["sh", "-c", ENTER, "enter", str(self.folder), user, " ".join(self.binds)]
        settings = [f"{name}={value}" for name, value in passed.items()]
        return [*alone, *enter, "env", "-i", f"--chdir={folder}", *settings, *arguments]

    def run(self, user: str, folder: str, arguments: list[str], **more) -> subprocess.CompletedProcess:
        """Runs a command inside to its end; what it wrote is in `stdout`, both streams together."""
        return subprocess.run(
            self.command(user, folder, arguments, **more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
