"""Lesson 05: one matrix for every patch."""

from __future__ import annotations

import torch
from torch import Tensor

from course_lib.exercises.model import Case, Exercise, Option, Question, WrongAnswer, random_numbers


def project(patches, weight, bias):
    return patches @ weight.T + bias


def encoder_parameters(patch_length, tokens, dimension):
    projection = patch_length * dimension + dimension
    positions = tokens * dimension
    return projection + positions


def channels_last_weight(weight, channels, patch_size):
    dimension = weight.shape[0]
    split = weight.reshape(dimension, channels, patch_size, patch_size)
    return split.permute(0, 2, 3, 1).reshape(dimension, -1)


def _project_cases() -> list[Case]:
    def case(batch: int, count: int, length: int, dimension: int, only: str = "") -> Case:
        args = (
            random_numbers(batch, count, length, seed=1),
            random_numbers(dimension, length, seed=2).requires_grad_(),
            random_numbers(dimension, seed=3),
        )
        images = "one image" if batch == 1 else f"{batch} images"
        return Case(
            f"{images} of {count} patches of {length} numbers, D = {dimension}",
            args,
            "B N D",
            {"B": batch, "N": count, "D": dimension, "L": length},
            only,
        )

    return [
        case(2, 6, 12, 5),
        case(3, 4, 27, 7),
        case(2, 9, 8, 8, "C·P·P = D"),
        case(1, 6, 12, 5, "a batch of one"),
        case(4, 1, 20, 3, "one patch"),
    ]


def _own_matrices(patches, weight, bias):
    generator = torch.Generator().manual_seed(0)
    each = torch.randn(patches.shape[1], *weight.shape, generator=generator, dtype=weight.dtype)
    return torch.einsum("bnl,ndl->bnd", patches, each) + bias


def _weight_cases() -> list[Case]:
    def case(dimension: int, channels: int, patch_size: int, only: str = "") -> Case:
        weight = torch.arange(float(dimension * channels * patch_size**2)).reshape(dimension, -1)
        return Case(
            f"D = {dimension}, {channels} channel{'s' * (channels > 1)}, P = {patch_size}",
            (weight, channels, patch_size),
            "D P·P·C",
            {"D": dimension, "C": channels, "P": patch_size},
            only,
        )

    return [
        case(5, 2, 3),
        case(7, 4, 2),
        case(3, 5, 2),
        case(4, 3, 4, "three channels"),
        case(5, 1, 3, "one channel"),
    ]


def _last_to_first(weight, channels, patch_size):
    return weight.reshape(len(weight), patch_size, patch_size, channels).permute(0, 3, 1, 2).reshape(len(weight), -1)


MORE_PROJECTIONS = (
    WrongAnswer(
        "weight reshaped, not turned",
        lambda x, w, b: x @ w.reshape(w.shape[1], w.shape[0]) + b,
        "A reshape keeps the numbers in their order, so the rows are torn apart. To turn a matrix is .T.",
    ),
    WrongAnswer(
        "reshape in place of transpose",
        lambda x, w, b: (w @ x.transpose(1, 2) + b[:, None]).reshape(*x.shape[:2], -1),
        "The shape is right, the numbers are not: (B, D, N) was reshaped. The axes have to be swapped:"
        " .transpose(1, 2).",
    ),
    WrongAnswer(
        "first image only",
        lambda x, w, b: x[0] @ w.T + b,
        "Only the first image was projected: @ works on the last two axes, so the batch may stay.",
    ),
    WrongAnswer(
        "batch and patches merged",
        lambda x, w, b: x.flatten(0, 1) @ w.T + b,
        "All patches of the batch stand in one list. Keep the batch axis: @ needs no flattening.",
    ),
    WrongAnswer(
        "a nonlinearity after it",
        lambda x, w, b: (x @ w.T + b).relu(),
        "No ReLU here: the projection is the product and the bias, nothing more.",
    ),
    WrongAnswer(
        "divided by a root",
        lambda x, w, b: (x @ w.T + b) / w.shape[1] ** 0.5,
        "Nothing has to be scaled: the projection is the product and the bias, nothing more.",
    ),
    WrongAnswer(
        "one number of the bias for all",
        lambda x, w, b: x @ w.T + b[0],
        "Each of the D numbers of a token has a bias of its own: add the whole bias.",
    ),
    WrongAnswer(
        "weight on the left",
        lambda x, w, b: w @ x,
        "Here the N patches meet the C·P·P columns of the weight: the weight stands on the left, or the patches were"
        " turned. A patch is a row: it stays as it is, on the left, and the turned weight follows.",
    ),
    WrongAnswer(
        "a new layer",
        lambda x, w, b: torch.nn.Linear(x.shape[-1], len(w))(x),
        "A new nn.Linear has random weights of its own. Use the weight and the bias that you were given, with the"
        " dtype that they have.",
    ),
    *(
        WrongAnswer(name, answer, "A patch has no id: it is multiplied, not looked up.")
        for name, answer in (
            ("patch looked up", lambda x, w, b: torch.nn.functional.embedding(x, w)),
            ("patch as an index", lambda x, w, b: w[x]),
            ("rounded patch looked up", lambda x, w, b: torch.nn.functional.embedding(x.long(), w)),
            ("rounded patch as an index", lambda x, w, b: w[x.long()]),
            ("rounded patch as an index, and the bias", lambda x, w, b: w[x.long()] + b),
        )
    ),
    *(
        WrongAnswer(
            name,
            answer,
            "* multiplies place by place and wants the same sizes. Here every row of the weight meets every patch,"
            " and products are summed: that is @.",
        )
        for name, answer in (
            ("star in place of @", lambda x, w, b: x * w),
            ("star in place of @, and the bias", lambda x, w, b: x * w + b),
            ("star and a sum", lambda x, w, b: (x * w).sum(-1)),
            ("star, a sum and the bias", lambda x, w, b: (x * w).sum(-1) + b),
            ("star with the turned weight", lambda x, w, b: x * w.T),
        )
    ),
)

MORE_COUNTS = (
    WrongAnswer(
        "bias for the tokens",
        lambda length, n, d: length * d + n + n * d,
        "The bias is added to each token, so it has D numbers, whatever the number of tokens.",
    ),
    WrongAnswer(
        "matrix with a row for each token",
        lambda length, n, d: length * n + d + n * d,
        "The matrix turns C·P·P numbers into D. N is in neither of its sides: it is shared.",
    ),
    WrongAnswer(
        "a position for each number",
        lambda length, n, d: length * d + d + d * d,
        "There is a position for each of the N tokens, D numbers each. D × D has no N in it.",
    ),
    WrongAnswer(
        "one number a position",
        lambda length, n, d: length * d + d + n,
        "A position is a row of D numbers, not one number.",
    ),
    WrongAnswer(
        "positions squared",
        lambda length, n, d: length * d + d + n * n,
        "N × N counts pairs of tokens. A position row has D numbers: N × D.",
    ),
    WrongAnswer(
        "sides of the matrix added",
        lambda length, n, d: length + d + d + n * d,
        "The two sides of the matrix were added. It has C·P·P columns and D rows: multiply.",
    ),
    WrongAnswer(
        "sides of the positions added",
        lambda length, n, d: length * d + d + n + d,
        "The two sides of the table of positions were added. It has N rows of D numbers: multiply.",
    ),
    WrongAnswer("bias of one number", lambda length, n, d: length * d + 1 + n * d, "The bias has D numbers."),
    WrongAnswer(
        "bias as long as a patch",
        lambda length, n, d: length * d + length + n * d,
        "The bias is added to the result of the product, so it has D numbers, not C·P·P.",
    ),
    WrongAnswer(
        "bias for each token",
        lambda length, n, d: length * d + n * d + n * d,
        "One bias of D numbers serves all tokens; it was counted N times.",
    ),
    WrongAnswer(
        "one row too many",
        lambda length, n, d: length * d + d + n * d + d,
        "D numbers too many: the position rows have no bias, and there is no class token here yet.",
    ),
    WrongAnswer(
        "positions alone", lambda length, n, d: n * d, "Those are the positions. The projection is learned too."
    ),
    WrongAnswer(
        "numbers in the tokens",
        lambda length, n, d: length * n * d,
        "These are the products that the projection works out, not the numbers that it learns: N is no factor.",
    ),
    WrongAnswer(
        "bytes",
        lambda length, n, d: 4 * (length * d + d + n * d),
        "These are bytes in float32. The number of numbers is wanted.",
    ),
)


def _moved(*order):
    return lambda w, c, p: w.reshape(len(w), c, p, p).permute(order).reshape(len(w), -1)


MORE_ORDERS = (
    WrongAnswer(
        "column, channel, row",
        _moved(0, 3, 1, 2),
        "The order is now column, channel, row. permute names, for each new axis, the old one: (0, 2, 3, 1).",
    ),
    WrongAnswer(
        "row, channel, column",
        _moved(0, 2, 1, 3),
        "Only channel and row were swapped. The channel goes behind row and column: (0, 2, 3, 1).",
    ),
    WrongAnswer(
        "rows of the weight mixed",
        _moved(1, 2, 3, 0),
        "D moved as well, so numbers of different rows were mixed. It stays in front: (0, 2, 3, 1).",
    ),
    WrongAnswer(
        "rows of the weight mixed, channel before",
        _moved(2, 3, 1, 0),
        "D moved as well, so numbers of different rows were mixed. It stays in front: (0, 2, 3, 1).",
    ),
    WrongAnswer(
        "row reversed",
        lambda w, c, p: w.flip(1),
        "The row was reversed. Row and column stay as they are, only the channel goes last.",
    ),
    WrongAnswer(
        "pixels not flattened",
        lambda w, c, p: w.reshape(len(w), c, p * p).transpose(1, 2),
        "The order is right. Flatten the last two axes into one.",
    ),
)


EXERCISES = (
    Exercise(
        name="project",
        lesson="05",
        solution=project,
        cases=_project_cases,
        result=Tensor,
        gradient=1,
        slack=1e-10,
        wrong=(
            WrongAnswer(
                "weight not turned",
                lambda x, w, b: x @ w + b,
                "weight has one ROW for each number of the result, "
                "so it has to be turned first. Which attribute of a matrix turns it? Where C·P·P = D nothing "
                "stops you.",
            ),
            WrongAnswer(
                "bias forgotten",
                lambda x, w, b: x @ w.T,
                "Each number is off by the same amount in its column: that is the bias. Every token gets it once.",
            ),
            WrongAnswer("bias subtracted", lambda x, w, b: x @ w.T - b, "The bias is added, not subtracted."),
            WrongAnswer(
                "bias twice",
                lambda x, w, b: torch.nn.functional.linear(x, w, b) + b,
                "The bias was added twice: F.linear adds it already.",
            ),
            WrongAnswer(
                "bias multiplied",
                lambda x, w, b: (x @ w.T) * b,
                "The bias is added to each token, not multiplied.",
            ),
            WrongAnswer(
                "patches added up",
                lambda x, w, b: (x @ w.T + b).sum(1),
                "The patches were added up: each patch keeps a vector of its own.",
            ),
            WrongAnswer(
                "patches averaged",
                lambda x, w, b: (x @ w.T + b).mean(1),
                "The patches were averaged: each patch keeps a vector of its own.",
            ),
            WrongAnswer(
                "one vector for all",
                lambda x, w, b: (x[:, :1] @ w.T + b).expand(-1, x.shape[1], -1),
                "Every patch got the vector of the first one. The matrix is shared, its result is not: other "
                "pixels, other vector.",
            ),
            WrongAnswer(
                "a matrix for each patch",
                _own_matrices,
                "Every patch got a matrix of its own. One matrix serves them all.",
            ),
            WrongAnswer(
                "tokens and numbers swapped",
                lambda x, w, b: (x @ w.T + b).transpose(1, 2),
                "The tokens stand in the columns: each token is a row.",
            ),
            *MORE_PROJECTIONS,
        ),
        hints=(
            "Each patch is a row of C·P·P numbers. Which side of the weight has that length?",
            "(B, N, C·P·P) @ (C·P·P, D) gives (B, N, D). weight has the shape (D, C·P·P).",
            (
                "return patches @ weight.T + bias: one product with the turned weight, as in F.linear(patches,"
                " weight, bias)."
            ),
        ),
        praise="You wrote what nn.Linear does; lesson 06 asks what nn.Conv2d does.",
    ),
    Exercise(
        name="encoder_parameters",
        lesson="05",
        solution=encoder_parameters,
        result=int,
        cases=lambda: [
            Case(f"patches of {length} numbers, {tokens} tokens, D = {dimension}", (length, tokens, dimension))
            for length, tokens, dimension in [(108, 144, 64), (49, 16, 24), (768, 196, 512), (12, 6, 5)]
        ],
        wrong=(
            WrongAnswer(
                "matrix times tokens",
                lambda length, n, d: n * length * d + d + n * d,
                "The matrix was counted once for each patch. It is shared: its count does not depend on N.",
            ),
            WrongAnswer(
                "positions left out",
                lambda length, n, d: length * d + d,
                "Each token has a position row of D numbers as well: N·D more.",
            ),
            WrongAnswer(
                "bias left out",
                lambda length, n, d: length * d + n * d,
                "The projection has a bias: D numbers more.",
            ),
            WrongAnswer(
                "matrix only",
                lambda length, n, d: length * d,
                "That is the matrix alone. The bias and the positions are learned too.",
            ),
            WrongAnswer(
                "a matrix for each patch",
                lambda length, n, d: n * (length * d + d) + n * d,
                "The projection was counted once for each patch. It is shared: its count does not depend on N.",
            ),
            WrongAnswer(
                "weights times tokens",
                lambda length, n, d: n * (length * d + d),
                "The projection was counted once for each "
                "patch, and the positions not at all. It is shared: its count does not depend on N.",
            ),
            WrongAnswer(
                "one position",
                lambda length, n, d: length * d + d + d,
                "There is a position row for each of the N tokens, not one for all.",
            ),
            WrongAnswer(
                "positions as long as patches",
                lambda length, n, d: length * d + d + n * length,
                "A position row is added to a token, so it has D numbers, not C·P·P.",
            ),
            WrongAnswer(
                "a class token too",
                lambda length, n, d: length * d + d + (n + 1) * d + d,
                "There is no class token here yet: N position rows.",
            ),
            *MORE_COUNTS,
        ),
        hints=(
            "Three things are learned here: a matrix, a bias, and a row for each position.",
            ("The matrix has patch_length × dimension numbers, the bias dimension, the positions tokens × dimension."),
            "patch_length * dimension + dimension + tokens * dimension",
        ),
        praise="108 → 64 for 144 patches: 6,912 + 64 + 9,216 = 16,192.",
    ),
    Exercise(
        name="channels_last_weight",
        lesson="05",
        solution=channels_last_weight,
        cases=_weight_cases,
        result=Tensor,
        wrong=(
            WrongAnswer(
                "unchanged",
                lambda w, c, p: w,
                "Nothing was moved: a reshape keeps the order. The numbers of each row have to follow those of "
                "the patch: row, column, channel.",
            ),
            WrongAnswer(
                "backwards",
                _last_to_first,
                "The order was changed the other way round: this turns (P, P, C) "
                "into (C, P, P). Split the row as (C, P, P) first.",
            ),
            WrongAnswer(
                "row and column swapped",
                lambda w, c, p: w.reshape(len(w), c, p, p).permute(0, 3, 2, 1).reshape(len(w), -1),
                "The channel is last, but row and column have changed places.",
            ),
            WrongAnswer(
                "not flattened",
                lambda w, c, p: w.reshape(len(w), c, p, p).permute(0, 2, 3, 1),
                "The order is right. Flatten the last three axes into one.",
            ),
            WrongAnswer(
                "weight turned",
                lambda w, c, p: channels_last_weight(w, c, p).T,
                "One row for each number of the result: D stays in front.",
            ),
            *MORE_ORDERS,
        ),
        hints=(
            "Each row of the weight is as long as a patch and in the same order. Which axes hide in it?",
            "weight.reshape(D, C, P, P). The patch now comes as row, column, channel.",
            ".permute(0, 2, 3, 1).reshape(D, -1)",
        ),
        praise="Patches and weight changed order together, so every product meets its old partner.",
    ),
)

QUESTIONS = (
    Question(
        name="shared_matrix",
        lesson="05",
        text=(
            "144 different patches of 108 numbers, one projection to 64 numbers. How many different vectors come out?"
        ),
        options=(
            Option(
                "1",
                "That would hold if the layer ignored its input. Sharing means that the same weights are used 144 "
                "times, each time on other pixels. Run the next two cells and count the equal pairs.",
            ),
            Option("64", "64 is the length of each vector, not their number."),
            Option(
                "144",
                "Same matrix, other pixels. Here all 144 tokens differ. Equal patches always give equal tokens;"
                " different ones nearly always differ.",
                right=True,
            ),
            Option(
                "108 × 64",
                "That is the number of weights. They are shared, which is why it does not depend on the number of "
                "patches.",
            ),
        ),
    ),
    Question(
        name="table_of_patches",
        lesson="05",
        text=(
            "Grey patches of 7 × 7 pixels, 256 shades each. Could a table hold one row for each possible patch, as"
            " it does for words?"
        ),
        options=(
            Option(
                "yes: 49 × 256 = 12,544 rows",
                "Each pixel can take any shade whatever the others do, so the choices multiply: "
                "256 × 256 × …, 49 times.",
            ),
            Option(
                "yes, with sparse storage",
                "Storage is not the point: a row learns only from its own patch, and most new patches have no row"
                " that ever learned.",
            ),
            Option(
                "no: there are about 10¹¹⁸ patches",
                "256 to the power 49. The universe has about 10⁸⁰ atoms.",
                right=True,
            ),
            Option(
                "no: pixels are no whole numbers",
                "Here they are: 256 shades. There are only too many combinations.",
            ),
        ),
    ),
    Question(
        name="more_patches",
        lesson="05",
        text=(
            "The same layer reads an image with four times as many patches. What happens to the number of weights"
            " of the projection?"
        ),
        options=(
            Option(
                "it stays",
                "The matrix has a row for each number of the result and a column for each number of a patch. N is"
                " in neither.",
                right=True,
            ),
            Option("four times as many", "That would be one matrix for each patch. One serves them all."),
            Option("a quarter", "The patches share the matrix, they do not divide it up."),
            Option(
                "sixteen times as many",
                "Pairs of tokens grow sixteenfold; the projection does not know about pairs.",
            ),
        ),
    ),
)
