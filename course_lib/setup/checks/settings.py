"""The learner's own settings of Jupyter that keep it from starting or change how, and folders that it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from course_lib.setup.checks import Fact
from course_lib.setup.checks.files import cannot_write

NOTED = ("password", "hashed_password", "password_required", "token", "port", "ip", "root_dir", "notebook_dir",
         "open_browser", "certfile")  # fmt: skip

# Loads what JupyterLab would load, since a setting in Python can be anything. Values stay in there: some are secret.
CHILD = """
import importlib.util, json, os, sys
from jupyter_core import paths
from traitlets.config.loader import JSONFileConfigLoader, PyFileConfigLoader
told = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
def lacks(value):
    return isinstance(value, str) and "." in value and not importlib.util.find_spec(value.partition(".")[0])
def look(folder, name, ending, loader):
    own = folder == paths.jupyter_config_dir()
    found = {"file": os.path.join(folder, name + ending), "own": own, "lacks": {}, "sets": []}
    try:
        config = loader(name + ending, path=folder).load_config()
    except BaseException as error:
        return dict(found, error=type(error).__name__ + ": " + str(error))
    for section, settings in config.items():
        for key, value in settings.items() if isinstance(settings, dict) else ():
            found["sets"].append(section + "." + key)
            # From jupyter_lab_config it comes too late to have an effect.
            if key.endswith("_class") and name != "jupyter_lab_config" and lacks(value):
                found["lacks"][section + "." + key] = value.partition(".")[0]
    return found
for folder in paths.jupyter_config_path():
    for name in ("jupyter_config", "jupyter_server_config", "jupyter_lab_config"):
        for ending, loader in ((".json", JSONFileConfigLoader), (".py", PyFileConfigLoader)):
            if os.path.isfile(os.path.join(folder, name + ending)):
                print(json.dumps(look(folder, name, ending, loader)), file=told, flush=True)
"""


def own_settings(seconds: float = 20) -> list[Fact]:
    """A line for each setting and place that is not as JupyterLab needs it; none if jupyter_core is not installed."""
    try:
        import jupyter_core.paths  # comes with JupyterLab's kernel
    except ImportError:
        return []
    found = places(
        JUPYTER_RUNTIME_DIR=jupyter_core.paths.jupyter_runtime_dir(),
        JUPYTER_DATA_DIR=jupyter_core.paths.jupyter_data_dir(),
        JUPYTER_CONFIG_DIR=jupyter_core.paths.jupyter_config_dir(),
        IPYTHONDIR=os.environ.get("IPYTHONDIR") or os.path.expanduser("~/.ipython"),
    )
    try:
        done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, encoding="utf-8", timeout=seconds)
    except subprocess.TimeoutExpired:
        text = f"your own configuration of Jupyter takes longer than {seconds:.0f} seconds to load"
        return [*found, ("note", "settings", f"{text}: `lab` does without the part in your home folder")]
    return found + [fact for line in done.stdout.splitlines() for fact in settings(**json.loads(line))]


def places(**folders: str) -> list[Fact]:
    """A line on the folders, by the variable that names them, in which Jupyter cannot write."""
    refused = [(name, *fault) for name, folder in folders.items() for fault in cannot_write(Path(folder))]
    if not refused:
        return []
    shown = "; ".join(f"{name}, {place} ({error.strerror})" for name, place, error in refused)
    names = ", ".join(name for name, _, _ in refused)
    text = f"Jupyter cannot write in {shown}. `lab` takes folders in the course instead"
    return [("note", "places", f"{text}; to start JupyterLab in another way, set {names} to folders of your own")]


def settings(file: str, own: bool, lacks: dict[str, str], sets: list[str], error: str = "") -> list[Fact]:
    """Lines on one file of configuration; `own` is one in the learner's home, which `lab` does not read."""
    unread = "; `lab` does not read this file, another way to start JupyterLab does" if own else ""
    found = []
    if error:  # JupyterLab goes on without the file
        found.append(("note", "settings", f"{file} cannot be used ({error}): mend it or take it away{unread}"))
    for key, package in lacks.items():
        text = f"{file} sets {key} to something in the package {package}, which is not installed here, and JupyterLab"
        cure = f"take that line out, or install {package}"
        found.append(("note" if own else "problem", "settings", f"{text} does not start with it: {cure}{unread}"))
    noted = [key for key in sets if key.partition(".")[2] in NOTED]
    if noted:
        text = f"{file} sets {', '.join(noted)}, so JupyterLab may have another address, or ask for a password"
        found.append(("note", "settings", text + unread))
    return found
