"""The data that ship with the course: a photograph, handwritten digits and the corpus of a small world.

Each loader verifies the checksum of its file first. Nothing is downloaded and nothing is cached: every call
returns tensors of its own, so that a change in place harms nobody else.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import numbers
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import course_lib

# torch, numpy and PIL are imported where they are used, so that verify() works where one of them does not.
if TYPE_CHECKING:
    import torch

# SHA-256 of each file; data/README.md says the same, with origin and licence.
CHECKSUMS = {
    "photo.png": "fec889fe7a081cd381275dbbfdc64bbe124f8dace1dba9ac582db116f7fd2186",
    "digits.csv.gz": "09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22",
    "tiny_world.txt": "dd97e3a9d94eea50060afefed6532fece69b51a87adbe3572a35b4a5802e4a82",
}


class DataError(RuntimeError):
    """A file of the data folder is missing, unreadable or damaged; the message names the cure."""


@dataclass(frozen=True)
class Digits:
    """Handwritten digits: images (n, 1, s, s) float32 in 0..1, labels (n,) int64 in 0..9."""

    train_images: torch.Tensor
    train_labels: torch.Tensor
    test_images: torch.Tensor
    test_labels: torch.Tensor


def photo(size: int = 384) -> torch.Tensor:
    """Portrait of Grace Hopper, (1, 3, size, size) float32 in 0..1; size from 8 to 384, else ValueError."""
    import numpy as np
    import torch
    from PIL import Image

    if isinstance(size, bool) or not isinstance(size, numbers.Integral):
        raise TypeError(f"size must be a whole number of pixels, got {size!r}: try photo(size=224)")
    if not 8 <= size <= 384:
        raise ValueError(f"the photo comes in sizes 8 to 384 pixels, got {size}: choose one of those")
    with Image.open(io.BytesIO(_read("photo.png"))) as picture:
        # Pillow adds up bytes in whole numbers: the same pixels on every machine.
        resized = picture.convert("RGB").resize((size, size), Image.Resampling.BICUBIC)
    pixels = torch.from_numpy(np.array(resized))  # (H, W, C) uint8
    return pixels.permute(2, 0, 1).unsqueeze(0).float().contiguous() / 255


def digits(size: int = 8) -> Digits:
    """UCI digits, 1,437 to train and 360 to test: 8 x 8 or, enlarged bilinearly, 28 x 28 (else ValueError).

    The split is fixed: every fifth image of the file, from the first on, is held out for testing.
    """
    import numpy as np
    import torch
    from torch.nn.functional import interpolate

    if size not in (8, 28):
        raise ValueError(f"digits come in sizes 8 and 28, got {size!r}: digits(size=8) or digits(size=28)")
    lines = gzip.decompress(_read("digits.csv.gz")).decode("ascii").splitlines()
    table = torch.from_numpy(np.loadtxt(lines, delimiter=",", dtype=np.int64))
    # A row holds 64 pixels in 0..16, then the label.
    images = table[:, :64].reshape(-1, 1, 8, 8).double() / 16
    if size == 28:
        images = interpolate(images, size=(28, 28), mode="bilinear", align_corners=False)
    # Computed in float64 and rounded once: the same float32 numbers on every machine.
    images, labels = images.float(), table[:, 64]
    held_out = torch.arange(len(table)) % 5 == 0
    return Digits(images[~held_out], labels[~held_out], images[held_out], labels[held_out])


def tiny_world() -> list[str]:
    """The small world's sentences, lower case with a full stop, as course_lib/tiny_world.py wrote them."""
    return _read("tiny_world.txt").decode("ascii").splitlines()


def python_docs() -> list[str]:
    """Sentences of the documentation topics that come with Python itself; none where this Python lacks them."""
    try:
        from pydoc_data.topics import topics
    except ImportError:
        return []
    paragraphs = (" ".join(part.split()) for text in topics.values() for part in re.split(r"\n\s*\n", text))
    return [sentence for paragraph in paragraphs for sentence in re.split(r"(?<=[.:;])\s", paragraph) if sentence]


def verify() -> list[tuple[str, str | None]]:
    """(file name, None or what is wrong and how to mend it) for each data file; needs no torch."""
    report: list[tuple[str, str | None]] = []
    for name in CHECKSUMS:
        try:
            _read(name)
        except DataError as error:
            report.append((name, str(error)))
        else:
            report.append((name, None))
    return report


def _read(name: str) -> bytes:
    """Bytes of one data file once its checksum is right, else DataError."""
    carried = Path(__file__).with_name("data_files")  # which pyproject.toml puts into a wheel
    path = (carried if carried.is_dir() else course_lib.COURSE / "data") / name
    cure = f"Restore it with `git checkout -- data/{name}` in the course folder, or fetch the course again."
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"data/{name} is missing (looked for {path}). {cure}") from None
    except OSError as error:
        raise DataError(f"data/{name} cannot be read ({error}). {cure}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != CHECKSUMS[name]:
        raise DataError(
            f"data/{name} is damaged or was changed: expected SHA-256 {CHECKSUMS[name][:12]}…, "
            f"found {found[:12]}… ({len(content):,} bytes). {cure}"
        )
    return content
