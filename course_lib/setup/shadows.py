"""Finds files that are named like a module of Python or of a package, and are imported in its place.

Such a file breaks the imports of others, so nothing but os and sys is imported here; syntax of Python 3.7.
"""

import os
import sys

PACKAGES = (
    "IPython", "PIL", "anywidget", "ipykernel", "ipywidgets", "jinja2", "jupyter_client", "jupyter_core",
    "jupyter_server", "jupyterlab", "matplotlib", "nbclient", "nbconvert", "nbformat", "networkx", "numpy",
    "packaging", "psutil", "requests", "sympy", "torch", "torchvision", "tornado", "traitlets", "zmq",
)  # fmt: skip


def find(folder: str) -> list:
    """The paths in a folder that hide a module; none where the folder cannot be read."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if _hides(folder, name)]


def _hides(folder: str, name: str) -> bool:
    module, _, ending = name.partition(".")
    # What is built into Python is found before any file.
    if module not in _python_modules() + PACKAGES or module in sys.builtin_module_names:
        return False
    if ending:
        return ending in ("py", "pyc") or ending.endswith((".so", ".pyd"))
    return os.path.exists(os.path.join(folder, name, "__init__.py"))


def _python_modules() -> tuple:
    names = getattr(sys, "stdlib_module_names", None)  # since Python 3.10
    return tuple(names or [name.partition(".")[0] for name in os.listdir(os.path.dirname(os.__file__))])


def told(paths: list) -> str:
    """One line on what was found, with the cure."""
    if len(paths) == 1:
        return paths[0] + " is named like a module that the course needs, and is taken in its place: rename it"
    return ", ".join(paths) + " are named like modules that the course needs, and are taken in their place: rename them"


def stop(folder: str) -> None:
    """SystemExit with one line where a file in the folder hides a module."""
    found = find(folder)
    if found:
        raise SystemExit("\nThis did not work: " + told(found))
