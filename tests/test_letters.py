"""The letters of the course, printed and checked against shapes."""

from __future__ import annotations

import pytest
import torch

from course_lib import letters


def test_every_letter_is_printed_with_its_meaning(capsys):
    letters.show_letters()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(letters.LETTERS)
    assert all(
        line == f"{letter}  {meaning}" for line, (letter, meaning) in zip(lines, letters.LETTERS.items(), strict=True)
    )


def test_the_letters_of_the_course_are_there():
    assert set("BCHWPSNDVTK") == set(letters.LETTERS)


def test_shapes_are_printed_in_columns_with_their_letters(capsys):
    letters.show_shapes(images=(torch.zeros(2, 3, 4, 6), "B C H W"), patches=(torch.zeros(2, 6, 12), "B N C·P·P"))
    assert capsys.readouterr().out == ("images   (2, 3, 4, 6)  B C H W\npatches  (2, 6, 12)    B N C·P·P\n")


def test_a_scalar_has_no_letters(capsys):
    letters.show_shapes(loss=(torch.tensor(1.0), ""))
    assert capsys.readouterr().out == "loss  ()\n"


def test_another_number_of_letters_than_axes_is_refused():
    with pytest.raises(ValueError, match=r"images has 4 axes \(2, 3, 4, 6\), but 3 letters: 'B C H'"):
        letters.show_shapes(images=(torch.zeros(2, 3, 4, 6), "B C H"))


def test_one_letter_with_two_sizes_is_refused(capsys):
    with pytest.raises(ValueError, match=r"N is 6 further up, but 7 in tokens \(2, 7, 5\)"):
        letters.show_shapes(patches=(torch.zeros(2, 6, 12), "B N C·P·P"), tokens=(torch.zeros(2, 7, 5), "B N D"))
    assert capsys.readouterr().out == ""


def test_one_letter_twice_in_one_shape_has_to_fit_as_well():
    with pytest.raises(ValueError, match="P is 7 further up, but 5 in tile"):
        letters.show_shapes(tile=(torch.zeros(7, 5), "P P"))


def test_a_number_among_the_letters_has_to_be_the_size(capsys):
    letters.show_shapes(scores=(torch.zeros(5, 10), "B 10"))
    assert capsys.readouterr().out == "scores  (5, 10)  B 10\n"
    with pytest.raises(ValueError, match=r"scores \(5, 9\) has an axis of 9 where 'B 10' says 10"):
        letters.show_shapes(scores=(torch.zeros(5, 9), "B 10"))
