"""The data that ship: what the loaders return, and what they say about a damaged file."""

import hashlib
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch

import course_lib
from course_lib import data, tiny_world

ROOT = course_lib.COURSE
FILES = tuple(data.CHECKSUMS)
LOADERS = {"photo.png": data.photo, "digits.csv.gz": data.digits, "tiny_world.txt": data.tiny_world}


@pytest.fixture
def copied_data(tmp_path, monkeypatch):
    """A copy of the data folder that the loaders use in place of the real one."""
    shutil.copytree(ROOT / "data", tmp_path / "data")
    monkeypatch.setattr(course_lib, "COURSE", tmp_path)
    return tmp_path / "data"


def words(sentence):
    return re.findall(r"[^\W_]+", sentence)


@pytest.mark.parametrize("size", [8, 28, 72, 220, 384])
def test_photo_has_the_size_asked_for_and_values_from_0_to_1(size):
    image = data.photo(size)
    assert image.shape == (1, 3, size, size)
    assert image.dtype == torch.float32
    assert image.is_contiguous()
    assert 0 <= image.min() < 0.1 and 0.7 < image.max() <= 1


def test_photo_is_384_pixels_wide_by_default():
    assert data.photo().shape == (1, 3, 384, 384)


def test_photo_is_upright_and_in_colour():
    red, _, blue = data.photo()[0]
    assert (blue - red)[:100, -60:].mean() > 0.2, "the wall at the top right is blue"
    assert (red - blue)[160:260, 140:240].mean() > 0.1, "the face in the middle is not"
    assert data.photo()[0, :, -40:, -60:].mean() < 0.3, "the jacket at the bottom right is dark"


@pytest.mark.parametrize("size, start", [(28, "9990060b3eba810a"), (224, "7fdca6f387c2d7ce")])
def test_resized_photo_has_the_same_pixels_everywhere(size, start):
    # The same with Pillow 10.0 and 13.0.
    pixels = (data.photo(size) * 255).round().to(torch.uint8)
    assert hashlib.sha256(pixels.numpy().tobytes()).hexdigest().startswith(start)


def test_photo_keeps_float32_whatever_the_default_type():
    torch.set_default_dtype(torch.float64)
    try:
        assert data.photo(28).dtype == torch.float32
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("size", [-1, 0, 7, 385, 10_000])
def test_photo_refuses_sizes_outside_8_to_384(size):
    with pytest.raises(ValueError, match=rf"8 to 384 pixels, got {size}:"):
        data.photo(size)


def test_photo_takes_a_whole_number_of_numpy():
    assert torch.equal(data.photo(np.int64(28)), data.photo(28))


@pytest.mark.parametrize("size", [28.0, "28", None, True, (28, 28)])
def test_photo_refuses_what_is_not_a_whole_number(size):
    with pytest.raises(TypeError, match="whole number of pixels"):
        data.photo(size)


@pytest.mark.parametrize("size", [8, 28])
def test_digits_have_the_promised_shapes_and_types(size):
    digits = data.digits(size)
    assert digits.train_images.shape == (1437, 1, size, size)
    assert digits.test_images.shape == (360, 1, size, size)
    assert digits.train_labels.shape == (1437,) and digits.test_labels.shape == (360,)
    for images in (digits.train_images, digits.test_images):
        assert images.dtype == torch.float32
        assert images.min() == 0 and images.max() == 1
    for labels in (digits.train_labels, digits.test_labels):
        assert labels.dtype == torch.int64
        assert labels.unique().tolist() == list(range(10))


def test_every_fifth_digit_is_held_out_and_none_is_lost():
    digits = data.digits()
    images = torch.empty(1797, 1, 8, 8)
    labels = torch.empty(1797, dtype=torch.int64)
    held_out = torch.tensor([index % 5 == 0 for index in range(1797)])
    images[held_out], labels[held_out] = digits.test_images, digits.test_labels
    images[~held_out], labels[~held_out] = digits.train_images, digits.train_labels
    # The file begins with the digits 0 to 9 in order; the first row of its first image is 0 0 5 13 9 1 0 0.
    assert labels[:10].tolist() == list(range(10))
    assert (images[0, 0, 0] * 16).tolist() == [0, 0, 5, 13, 9, 1, 0, 0]
    assert len(images.flatten(1).unique(dim=0)) == 1797, "no image comes twice, so the parts are disjoint"


def test_enlarged_digits_are_bilinear_to_the_last_bit():
    # In whole numbers: output pixel i lies at (4i - 5) / 14 between the input pixels, cut off at the border.
    weights = torch.zeros(28, 8, dtype=torch.int64)
    for row in range(28):
        left, part = divmod(max(4 * row - 5, 0), 14)
        weights[row, left] += 14 - part
        weights[row, min(left + 1, 7)] += part
    pixels = (data.digits(8).test_images * 16).long()
    expected = (weights @ pixels @ weights.T).double() / (16 * 14 * 14)
    assert torch.equal(data.digits(28).test_images, expected.float())


def test_both_sizes_hold_the_same_digits_in_the_same_order():
    small, large = data.digits(8), data.digits(28)
    assert torch.equal(small.train_labels, large.train_labels)
    assert torch.equal(small.test_labels, large.test_labels)


@pytest.mark.parametrize("size", [0, 7, 16, 32, None, "8"])
def test_digits_refuse_other_sizes(size):
    with pytest.raises(ValueError, match=r"digits\(size=8\) or digits\(size=28\)"):
        data.digits(size)


def test_changing_a_result_in_place_does_not_change_the_next_one():
    photo, digits, sentences = data.photo(28), data.digits(), data.tiny_world()
    kept = photo.clone(), digits.train_images.clone(), digits.test_labels.clone(), list(sentences)
    photo.zero_(), digits.train_images.zero_(), digits.test_labels.zero_(), sentences.clear()
    assert torch.equal(data.photo(28), kept[0])
    assert torch.equal(data.digits().train_images, kept[1])
    assert torch.equal(data.digits().test_labels, kept[2])
    assert data.tiny_world() == kept[3]


def test_all_files_that_ship_are_intact():
    assert data.verify() == [(name, None) for name in FILES]


def test_readme_tells_the_size_and_checksum_of_each_file():
    readme = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\S+)` \|.*\| (\d+) \| `([0-9a-f]{64})` \|$", readme, flags=re.MULTILINE)
    sizes = {name: (ROOT / "data" / name).stat().st_size for name in FILES}
    assert rows == [(name, str(sizes[name]), data.CHECKSUMS[name]) for name in FILES]
    for name in FILES:
        section = readme.split(f"\n## {name}\n")[1].split("\n## ")[0]
        for field in ("**What**", "**Author", "**Licence**", "**Origin**", "```python"):
            assert field in section, f"{name}: {field}"


@pytest.mark.parametrize("name", FILES)
def test_missing_file_is_named_with_its_cure(name, copied_data):
    (copied_data / name).unlink()
    with pytest.raises(data.DataError, match=f"data/{re.escape(name)} is missing") as caught:
        LOADERS[name]()
    assert f"git checkout -- data/{name}" in str(caught.value)
    assert dict(data.verify()) == {other: str(caught.value) if other == name else None for other in FILES}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["one bit", "cut off", "empty"])
def test_damaged_file_is_named_with_its_cure(name, damage, copied_data):
    content = bytearray((copied_data / name).read_bytes())
    if damage == "one bit":
        content[len(content) // 2] ^= 1
    else:
        del content[0 if damage == "empty" else len(content) // 2 :]
    (copied_data / name).write_bytes(content)
    with pytest.raises(data.DataError, match=f"data/{re.escape(name)} is damaged") as caught:
        LOADERS[name]()
    assert f"git checkout -- data/{name}" in str(caught.value)
    assert dict(data.verify()) == {other: str(caught.value) if other == name else None for other in FILES}


def test_folder_in_place_of_a_file_is_told(copied_data):
    (copied_data / "photo.png").unlink()
    (copied_data / "photo.png").mkdir()
    with pytest.raises(data.DataError, match=r"data/photo\.png cannot be read"):
        data.photo()


@pytest.mark.parametrize("hash_seed", ["0", "4321"])
def test_grammar_writes_the_corpus_that_ships(hash_seed):
    code = "import sys; from course_lib.tiny_world import generate; print(*generate(), sep='\\n')"
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
    )
    written = run.stdout.replace(os.linesep.encode(), b"\n")
    assert written == (ROOT / "data" / "tiny_world.txt").read_bytes()


def test_tiny_world_returns_the_sentences_of_the_grammar():
    assert data.tiny_world() == tiny_world.generate()


def test_generate_obeys_number_of_sentences_and_seed():
    assert tiny_world.generate(sentences=0) == []
    assert len(tiny_world.generate(sentences=7, seed=1)) == 7
    assert tiny_world.generate(50, seed=1) == tiny_world.generate(90, seed=1)[:50]
    assert tiny_world.generate(50, seed=1) != tiny_world.generate(50, seed=2)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"sentences": -1}, ValueError, "sentences must be at least 0, got -1"),
        ({"sentences": True}, TypeError, "sentences must be a whole number, got True"),
        ({"seed": None}, TypeError, "seed must be a whole number, got None"),
        ({"seed": 0.5}, TypeError, "seed must be a whole number, got 0.5"),
    ],
)
def test_generate_names_what_is_no_number_of_sentences_and_no_seed(options, error, text):
    with pytest.raises(error, match=text):
        tiny_world.generate(**options)


def test_sentences_are_lower_case_words_and_one_full_stop():
    for sentence in data.tiny_world():
        assert re.fullmatch(r"[a-z]+( [a-z]+){3,8}\.", sentence), sentence


def test_groups_are_disjoint_and_all_their_words_occur_often():
    grouped = [word for group in tiny_world.GROUPS.values() for word in group]
    assert len(grouped) == len(set(grouped))
    assert all(len(group) >= 4 for group in tiny_world.GROUPS.values())
    corpus = [word for sentence in data.tiny_world() for word in words(sentence)]
    assert min(corpus.count(word) for word in grouped) >= 40
    assert len(set(corpus)) == 120, "as data/README.md says"
    assert set(corpus) > set(grouped), "some words belong to no group"


def test_pronouns_and_number_agree():
    male, female = tiny_world.GROUPS["people"][0::2], tiny_world.GROUPS["people"][1::2]
    one, many = tiny_world.GROUPS["animals"][0::2], tiny_world.GROUPS["animals"][1::2]
    clashes = [
        ({*male}, {"she", "her"}),
        ({*female}, {"he", "his"}),
        ({*one}, {"these", "are", "have", *tiny_world.GROUPS["motion"][1::2], *tiny_world.GROUPS["numbers"]}),
        ({*many}, {"this", "is", "has", "one", *tiny_world.GROUPS["motion"][0::2]}),
    ]
    for sentence in data.tiny_world():
        present = set(words(sentence))
        for nouns, forms in clashes:
            assert not (present & nouns and present & forms), sentence


def test_importing_the_data_module_imports_nothing_heavy():
    code = "import sys, course_lib.data; course_lib.data.verify(); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"torch", "torchvision", "matplotlib", "numpy", "PIL"} & set(run.stdout.split())
