"""Which packages the course needs, and whether this Python has them.

The small part of Python's version rules that our own requirement files use. It works before anything
is installed, so it can use nothing but the standard library (and Python 3.10 cannot read TOML).
"""

import re
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

_REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[^]]*\])?\s*\(?([^();]*)\)?\s*(?:;\s*(.+))?")
_MARKER = re.compile(r"""python_version\s*(<|>=)\s*["'](\d+)\.(\d+)["']""")
_CLAUSE = re.compile(r"(===|==|!=|<=|>=|~=|<|>)\s*(\d+(?:\.\d+)*(?:\.post\d+)?)(\.\*)?")
_VERSION = re.compile(
    r"v?(\d+(?:\.\d+)*)(?:[._-]?(a|b|c|rc|alpha|beta|pre|preview)[._-]?(\d*))?"
    r"(?:[._-]?(?:post|rev|r)[._-]?(\d*)|-(\d+))?(?:[._-]?dev[._-]?(\d*))?(?:\+.*)?",
    re.IGNORECASE,
)


def project_dependencies(pyproject: str) -> list[str]:
    """The list `dependencies` of the table `[project]`, written one string a line; ValueError otherwise."""
    table = re.search(r"^\[project\]\n(.*?)(?=^\[|\Z)", pyproject, re.MULTILINE | re.DOTALL)
    body = table and re.search(r"^dependencies = \[\n(.*?)^\]$", table[1], re.MULTILINE | re.DOTALL)
    if not body:
        raise ValueError("pyproject.toml: expected `dependencies = [`, one string a line, `]` in [project]")
    found = []
    for line in body[1].splitlines():
        entry = re.fullmatch(r'\s*(?:"([^"\\]+)",?)?\s*(?:#.*)?', line)
        if not entry:
            raise ValueError(f'pyproject.toml: expected one "name>=version", a line, got {line.strip()!r}')
        if entry[1]:
            found.append(entry[1])
    return found


def requirement_lines(text: str) -> list[str]:
    """The requirements of a requirements file, without comments and options such as `-e .`."""
    lines = [re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("-")]


def split_requirement(requirement: str) -> tuple[str, str, bool]:
    """`torch>=2.5 ; python_version < "3.11"` -> name, specifier, whether it applies to this Python."""
    parts = _REQUIREMENT.fullmatch(requirement.strip())
    if not parts:
        raise ValueError(f"cannot read the requirement {requirement!r}: expected a name and versions")
    applies = True
    if parts[3]:
        marker = _MARKER.fullmatch(parts[3].strip())
        if not marker:
            raise ValueError(f"cannot read {parts[3]!r}: only python_version < or >= is expected here")
        older = sys.version_info[:2] < (int(marker[2]), int(marker[3]))
        applies = older == (marker[1] == "<")
    return parts[1], parts[2].strip(), applies


def version_key(version: str) -> tuple:
    """A version as a tuple that sorts as Python's rules say: 1.0.dev1 < 1.0a1 < 1.0rc1 < 1.0 < 1.0.post1."""
    parts = _VERSION.fullmatch(version.strip())
    if not parts:
        raise ValueError(f"cannot read the version {version!r}")
    release, stage, number, post, short_post, dev = parts.groups()
    post = short_post if post is None else post
    if stage:
        phase = {"a": 0, "b": 1}.get(stage[0].lower(), 2)
    else:
        phase = -1 if dev is not None and post is None else 3
    return (
        _release(release),
        (phase, int(number or 0)),
        -1 if post is None else int(post or 0),
        float("inf") if dev is None else int(dev or 0),
    )


def _release(digits: str) -> tuple[int, ...]:
    numbers = [int(part) for part in digits.split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def satisfies(version: str, specifier: str) -> bool:
    """Whether a version lies in a specifier such as `>=2.5,<3`; a local part (`+cpu`) is not compared."""
    have = version_key(version)
    for clause in filter(None, (part.strip() for part in specifier.split(","))):
        parts = _CLAUSE.fullmatch(clause)
        if not parts or (parts[3] and parts[1] not in ("==", "!=")):
            raise ValueError(f"cannot read the version range {clause!r}")
        if not _holds(have, parts[1], parts[2], bool(parts[3])):
            return False
    return True


def _holds(have: tuple, operator: str, wanted_text: str, prefix: bool) -> bool:
    wanted = version_key(wanted_text)
    other_release = have[0] != wanted[0]  # 3.0rc1 is not "<3", and 1.7.post1 is not ">1.7"
    if prefix or operator == "~=":
        digits = [int(part) for part in wanted_text.split(".")][: None if prefix else -1]
        inside = (have[0] + (0,) * len(digits))[: len(digits)] == tuple(digits)
        return not inside if operator == "!=" else inside and (prefix or have >= wanted)
    return {
        "==": have == wanted,
        "===": have == wanted,
        "!=": have != wanted,
        "<=": have <= wanted,
        ">=": have >= wanted,
        "<": have < wanted and other_release,
        ">": have > wanted and other_release,
    }[operator]


def installed_version(name: str) -> "str | None":
    """The installed version of a package from its metadata (nothing is imported), or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def unmet(requirements: list[str], version_of=installed_version) -> list[str]:
    """What is missing or does not fit, one phrase a requirement: `torch 2.1 (needs >=2.5)`, `anywidget`."""
    found = []
    for requirement in requirements:
        name, specifier, applies = split_requirement(requirement)
        if not applies:
            continue
        version = version_of(name)
        if version is None:
            found.append(name)
        elif not satisfies(version, specifier):
            found.append(f"{name} {version} (needs {specifier})")
    return found


def misplaced(requirements: list[str]) -> list[str]:
    """Packages that are installed and hidden by another module of their name: `torch (hidden by /x/torch.py)`.

    A broken module on PYTHONPATH does that, and the metadata of the right one say that all is well.
    """
    found = []
    for name, _, applies in map(split_requirement, requirements):
        spec = find_spec(name.replace("-", "_")) if applies else None
        if spec is None or spec.origin is None or installed_version(name) is None:
            continue
        package = metadata.distribution(name)
        home, module = Path(str(package.locate_file(""))).resolve(), Path(spec.origin).resolve()
        # One that its own developers installed from their sources lies elsewhere, and says so.
        if home not in module.parents and "editable" not in (package.read_text("direct_url.json") or ""):
            found.append(f"{name} (hidden by {module})")
    return found
