"""Runs notebooks, stores what they show in a stable form, and makes the solved edition."""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import os
import sys
import tempfile
import time
import uuid
from pathlib import Path

import nbformat
from ipykernel.kernelspec import RESOURCES, get_kernel_dict
from jupyter_client import AsyncKernelManager
from jupyter_client.connect import ConnectionFileMixin
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.localinterfaces import localhost
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets import default

from course_lib.exercises.lessons import notebooks
from course_lib.setup.notebook_file import NotebookError, damage, load
from course_lib.setup.printable import printable

CELL_SECONDS = 120
KEEP_OUTPUT = "nbval-ignore-output"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    },
}


def read(path: Path) -> NotebookNode:
    """Return the notebook in a file. Raises NotebookError where there is none, or it is damaged."""
    notebook = nbformat.v4.reads(json.dumps(load(path)))
    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        raise NotebookError(damage(path, f"it is no valid notebook, {str(error).splitlines()[0]}")) from error
    return notebook


class WithoutPorts(ConnectionFileMixin):
    """A kernel manager that speaks to its kernel through files, where the system can.

    A free port can be taken by somebody else before the kernel has it; then the kernel ends without a word.
    """

    @default("transport")
    def _files(self) -> str:
        short = len(tempfile.gettempdir()) < 80  # such a path may have about 100 characters in all
        return "ipc" if short and os.name != "nt" else "tcp"

    @default("ip")
    def _place(self) -> str:
        if self.transport == "tcp":
            return localhost()
        return os.path.join(tempfile.gettempdir(), f"kernel-{uuid.uuid4().hex[:12]}")


class ThisPython(WithoutPorts, AsyncKernelManager):
    """Starts the Python that runs this, whatever is installed under the name python3."""

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(resource_dir=RESOURCES, **get_kernel_dict())


def run(notebook: NotebookNode, path: Path, timeout: int = CELL_SECONDS, **environment: str) -> NotebookNode:
    """Return a copy of a notebook, run in a fresh kernel in the folder of `path`, without earlier progress.

    `timeout` is seconds a cell; `environment` is added to the kernel's. Raises NotebookError.
    """
    result = copy.deepcopy(notebook)
    place = ["before the first cell"]
    client = NotebookClient(
        result,
        kernel_manager_class=ThisPython,
        timeout=timeout,
        # By default an output that comes late is dropped without a word.
        iopub_timeout=timeout,
        raise_on_iopub_timeout=True,
        force_raise_errors=True,
        store_widget_state=False,
        extra_arguments=["--log-level=ERROR"],
        record_timing=False,
        resources={"metadata": {"path": str(path.resolve().parent)}},
        on_cell_start=lambda cell, cell_index: place.append(f"cell {cell.id}"),
    )
    with tempfile.TemporaryDirectory() as folder:
        progress = str(Path(folder) / "events.jsonl")
        try:
            client.execute(env={**os.environ, "COURSE_PROGRESS": progress, **environment})
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            raise NotebookError(f"{path.name}, {place[-1]}: {_reason(error, timeout)}") from error
    return result


def _reason(error: Exception, timeout: int) -> str:
    if isinstance(error, CellExecutionError):
        return f"{error.ename}: {error.evalue}"
    if isinstance(error, CellTimeoutError):
        return f"took longer than {timeout} s"
    return "the kernel died"


def clean(notebook: NotebookNode) -> NotebookNode:
    """Return a copy of a notebook without anything that changes from run to run or machine to machine."""
    result = copy.deepcopy(notebook)
    result.metadata = nbformat.from_dict(METADATA)
    count = 0
    for cell in result.cells:
        tags = cell.metadata.get("tags", [])
        kept = {"tags": tags} if tags else {}
        if KEEP_OUTPUT in tags and "output_of" in cell.metadata:
            kept["output_of"] = cell.metadata.output_of
        cell.metadata = nbformat.from_dict(kept)
        if cell.cell_type == "code":
            cell.outputs = _clean_outputs(cell.outputs)
            if cell.execution_count is not None:
                count += 1
                cell.execution_count = count
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = cell.execution_count
    return result


def _clean_outputs(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Pictures as PNG and text, no widget views, neighbouring pieces of one stream joined."""
    result: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream" and result and result[-1].get("name") == output.name:
            result[-1].text += output.text
            continue
        if "data" in output:
            output.data.pop(WIDGET_VIEW, None)
            if "image/png" in output.data:
                output.data.pop("text/html", None)
            output.metadata = {key: value for key, value in output.metadata.items() if key in output.data}
        result.append(output)
    return result


def dumps(notebook: NotebookNode) -> str:
    """Return the text of a notebook file as Jupyter writes it, ending with a newline."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def refresh(path: str | Path) -> bool:
    """Run a notebook, store its outputs in stable form, and say whether the file changed.

    A cell tagged `nbval-ignore-output` keeps the output it has as long as its source stays the same; clear
    the output to renew it. An error leaves the file as it is. Raises NotebookError, OSError.
    """
    path = Path(path)
    stored, old = read(path), path.read_text(encoding="utf-8")
    result = clean(run(stored, path))
    for before, after in zip(stored.cells, result.cells, strict=True):
        if KEEP_OUTPUT in after.metadata.get("tags", []):
            _keep_output(before, after)
    nbformat.validate(result)
    new = dumps(result)
    if new != old:
        _replace(path, new)
    return new != old


def _keep_output(before: NotebookNode, after: NotebookNode) -> None:
    """Give a cell that was run its former output, if that came from the same source."""
    source = hashlib.sha256(after.source.encode()).hexdigest()[:12]
    if before.outputs and before.metadata.get("output_of") == source:
        count = after.execution_count
        after.outputs = _clean_outputs(copy.deepcopy(before.outputs))
        for output in after.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count
    after.metadata["output_of"] = source


def _replace(path: Path, text: str) -> None:
    """Write a file so that whoever reads it finds the old or the new text, never half of it."""
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(text.encode())
        temporary.chmod(path.stat().st_mode)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def solved(notebook: NotebookNode) -> NotebookNode:
    """Return the solved edition: every exercise filled in, outputs removed (they are the unsolved edition's).

    Raises LookupError for an exercise that is unknown, ValueError for one that has no gap.
    """
    result = copy.deepcopy(notebook)
    for cell in result.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            if "exercise" in cell.metadata.get("tags", []):
                cell.source = _solve(cell)
    return result


def _solve(cell: NotebookNode) -> str:
    """Return the source of an exercise cell with its last function or class replaced by the solution."""
    from course_lib.exercises import find

    gap = exercise_definition(cell)
    try:
        solution = find(gap.name).solution_source
    except LookupError as error:
        raise LookupError(f"cell {cell.id}: no exercise is named {gap.name!r}: {error}") from error
    if not any(isinstance(node, ast.Expr) and _is_dots(node.value) for node in ast.walk(gap)):
        raise ValueError(f"cell {cell.id}: {gap.name} has no gap: put ... where the learner's lines go")
    first = min([gap.lineno, *(decorator.lineno for decorator in gap.decorator_list)])
    lines = cell.source.splitlines()
    return "\n".join([*lines[: first - 1], solution.strip("\n"), *lines[gap.end_lineno :]])


def exercise_definition(cell: NotebookNode) -> ast.FunctionDef | ast.ClassDef:
    """Return the last top-level function or class of an exercise cell; ValueError if it has none or is no Python."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    try:
        found = [node for node in ast.parse(cell.source).body if isinstance(node, kinds)]
    except SyntaxError as error:
        raise ValueError(f"cell {cell.id} is tagged exercise, but is no Python: {error}") from error
    if not found:
        raise ValueError(f"cell {cell.id} is tagged exercise, but defines no function or class")
    return found[-1]


def _is_dots(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def main(paths: list[str]) -> int:
    """Refresh the notebooks named, or all; print a line for each; return 0 if all ran."""
    failures = 0
    for path in [Path(name) for name in paths] or notebooks():
        start = time.perf_counter()
        try:
            state = "changed" if refresh(path) else "unchanged"
        except (NotebookError, OSError) as error:
            failures, state = failures + 1, f"not refreshed: {error}"
        stream = sys.stderr if state.startswith("not") else sys.stdout
        line = f"{path.name:<40} {time.perf_counter() - start:6.1f} s  {state}"
        print(printable(line), file=stream, flush=True)
    return min(failures, 1)
