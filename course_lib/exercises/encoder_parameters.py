"""Lesson 05, encoder_parameters: how many numbers a projection with bias and a table of positions learn."""

from __future__ import annotations

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def encoder_parameters(patch_length, tokens, dimension):
    projection = patch_length * dimension + dimension
    positions = tokens * dimension
    return projection + positions


WRONG = mistakes(
    encoder_parameters,
    r"""
matrix times tokens
    The matrix was counted once for each patch. It is shared: its count does not depend on N.
        patch_length * dimension → patch_length * dimension * tokens

positions left out
    Each token has a position row of D numbers as well: N·D more.
        projection + positions → projection

bias left out
    The projection has a bias: D numbers more.
        patch_length * dimension + dimension → patch_length * dimension

matrix only
    That is the matrix alone. The bias and the positions are learned too.
        return patch_length * dimension

a matrix for each patch
    The projection was counted once for each patch. It is shared: its count does not depend on N.
        projection + positions → projection * tokens + positions

weights times tokens
    The projection was counted once for each patch, and the positions not at all. It is shared: its count does not
    depend on N.
        return tokens * (patch_length * dimension + dimension)

one position
    There is a position row for each of the N tokens, not one for all.
        tokens * dimension → dimension

positions as long as patches
    A position row is added to a token, so it has D numbers, not C·P·P.
        tokens * dimension → tokens * patch_length

a class token too
    There is no class token here yet: N position rows.
        return patch_length * dimension + dimension + (tokens + 1) * dimension + dimension

bias for the tokens
    The bias is added to each token, so it has D numbers, whatever the number of tokens.
        return patch_length * dimension + tokens + tokens * dimension

matrix with a row for each token
    The matrix turns C·P·P numbers into D. N is in neither of its sides: it is shared.
        patch_length * dimension → patch_length * tokens

a position for each number
    There is a position for each of the N tokens, D numbers each. D × D has no N in it.
        tokens * dimension → dimension * dimension

one number a position
    A position is a row of D numbers, not one number.
        tokens * dimension → tokens

positions squared
    N × N counts pairs of tokens. A position row has D numbers: N × D.
        tokens * dimension → tokens * tokens

sides of the matrix added
    The two sides of the matrix were added. It has C·P·P columns and D rows: multiply.
        patch_length * dimension → patch_length + dimension

sides of the positions added
    The two sides of the table of positions were added. It has N rows of D numbers: multiply.
        tokens * dimension → tokens + dimension

bias of one number
    The bias has D numbers.
        return patch_length * dimension + 1 + tokens * dimension

bias as long as a patch
    The bias is added to the result of the product, so it has D numbers, not C·P·P.
        return patch_length * dimension + patch_length + tokens * dimension

bias for each token
    One bias of D numbers serves all tokens; it was counted N times.
        return patch_length * dimension + tokens * dimension + tokens * dimension

one row too many
    D numbers too many: the position rows have no bias, and there is no class token here yet.
        tokens * dimension → tokens * dimension + dimension

positions alone
    Those are the positions. The projection is learned too.
        projection + positions → positions

numbers in the tokens
    These are the products that the projection works out, not the numbers that it learns: N is no factor.
        return patch_length * tokens * dimension

bytes
    These are bytes in float32. The number of numbers is wanted.
        return 4 * (patch_length * dimension + dimension + tokens * dimension)
""",
)


EXERCISE = Exercise(
    name="encoder_parameters",
    solution=encoder_parameters,
    result=int,
    cases=lambda: [
        Case(f"patches of {length} numbers, {tokens} tokens, D = {dimension}", (length, tokens, dimension))
        for length, tokens, dimension in [(108, 144, 64), (49, 16, 24), (768, 196, 512), (12, 6, 5)]
    ],
    wrong=WRONG,
    hints=(
        "Three things are learned here: a matrix, a bias, and a row for each position.",
        ("The matrix has patch_length × dimension numbers, the bias dimension, the positions tokens × dimension."),
        "patch_length * dimension + dimension + tokens * dimension",
    ),
    praise="108 → 64 for 144 patches: 6,912 + 64 + 9,216 = 16,192.",
)
