"""Lesson 02: looking up is multiplying."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from course_lib.exercises.model import Case, Exercise, Option, Question, WrongAnswer, table
from course_lib.words import check_ids, one_hot


def lookup_by_matmul(ids, weight):
    check_ids(ids, len(weight))
    rows = F.one_hot(ids, len(weight)).to(weight.dtype)
    return rows @ weight


def lookup_by_index(ids, weight):
    check_ids(ids, len(weight))
    return weight[ids]


def linear_from_embedding(embedding):
    size, dimension = embedding.weight.shape
    linear = nn.Linear(size, dimension, bias=False)
    with torch.no_grad():
        linear.weight.copy_(embedding.weight.T)
    return linear


def rows_with_gradient(ids, vocabulary_size):
    counts = torch.zeros(vocabulary_size, dtype=torch.int64)
    for number in ids.flatten():
        counts[number] += 1
    return counts


def _lookup_cases() -> list[Case]:
    refuse = {"raises": (ValueError, IndexError)}
    return [
        Case("4 ids and a table (6, 3)", (torch.tensor([5, 0, 2, 2]), table(6, 3)), "T D", {"T": 4, "V": 6, "D": 3}),
        Case(
            "ids of shape (2, 3) and a table (7, 4)",
            (torch.tensor([[1, 6, 0], [3, 3, 5]]), table(7, 4)),
            "B T D",
            {"B": 2, "T": 3, "V": 7, "D": 4},
        ),
        Case(
            "ids [2, 0, 4, 2] and a table (8, 3)",
            (torch.tensor([2, 0, 4, 2]), table(8, 3)),
            "T D",
            {"T": 4, "V": 8, "D": 3},
        ),
        Case(
            "4 ids and a square table (3, 3)",
            (torch.tensor([1, 0, 2, 2]), table(3, 3)),
            "T D",
            {"T": 4, "V": 3, "D": 3},
            only="square tables",
        ),
        Case(
            "3 ids and a square table (5, 5)",
            (torch.tensor([4, 1, 0]), table(5, 5)),
            "T D",
            {"T": 3, "V": 5, "D": 5},
            only="square tables",
        ),
        Case(
            "no ids and a table (4, 2)",
            (torch.tensor([], dtype=torch.int64), table(4, 2)),
            "T D",
            {"T": 0, "V": 4, "D": 2},
            only="trivial",
        ),
        Case(
            "ids [[0, 1, 4], [2, 3, −1]] and a table of 9 rows",
            (torch.tensor([[0, 1, 4], [2, 3, -1]]), table(9, 4)),
            **refuse,
            mentions=((-1,), (1,), (2,), (8, 9)),
        ),
        Case(
            "ids [3, 4, 0, 9, 2] and a table of 9 rows",
            (torch.tensor([3, 4, 0, 9, 2]), table(9, 4)),
            **refuse,
            mentions=((9,), (3,), (8, 9)),
        ),
    ]


def _turned(ids, weight):
    check_ids(ids, len(weight))
    return weight.T[ids]


def _turned_product(ids, weight):
    check_ids(ids, len(weight))
    return F.one_hot(ids, len(weight)).to(weight.dtype) @ weight.T


def _picks_columns(ids, weight):
    check_ids(ids, len(weight))
    return weight[:, ids]


def _wraps(ids, weight):
    return weight[ids]


def _wraps_product(ids, weight):
    return torch.eye(len(weight))[ids] @ weight


def _row_of_zeros(ids, weight):
    return (ids.unsqueeze(-1) == torch.arange(len(weight))).to(weight.dtype) @ weight


def _says_too_little(ids, weight):
    if ((ids < 0) | (ids >= len(weight))).any():
        raise ValueError("id outside the table")
    return weight[ids]


def _detached(ids, weight):
    check_ids(ids, len(weight))
    return weight.detach()[ids]


def _float_ids(ids, weight):
    check_ids(ids, len(weight))
    return weight[ids.float()]


def _ids_times_table(ids, weight):
    check_ids(ids, len(weight))
    return ids.float() @ weight


def _integer_rows(ids, weight):
    check_ids(ids, len(weight))
    return F.one_hot(ids, len(weight)) @ weight


def _flattened(ids, weight):
    check_ids(ids, len(weight))
    return weight[ids.flatten()]


def _summed(ids, weight):
    check_ids(ids, len(weight))
    return weight[ids].sum(-2)


_LOOKUP_WRONG = (
    WrongAnswer(
        "rows one too early",
        lambda ids, weight: weight[check_ids(ids, len(weight)) - 1],
        "Each token got the row before its own. Ids start at 0, as rows do: take nothing off.",
    ),
    WrongAnswer(
        "table turned",
        _turned,
        "weight.T has the columns of the table as its rows. Where V = D nothing stops you, and "
        "each word gets a column in place of its row.",
    ),
    WrongAnswer("columns picked", _picks_columns, "weight[:, ids] picks columns. A word's vector is a row."),
    WrongAnswer(
        "negative ids wrap",
        _wraps,
        "Python counts −1 from the end, so an id that is no word got the last word's row. Call check_ids(ids,"
        " len(weight)) first, and let its error through: where `except` catches it, nobody is stopped.",
    ),
    WrongAnswer(
        "error says too little",
        _says_too_little,
        "Whoever reads this error in a program with a million ids has to "
        "know which one it was: check_ids(ids, len(weight)) says it, before torch says less.",
    ),
    WrongAnswer(
        "detached from the table",
        _detached,
        "Take the rows from the table itself, not from a copy of its numbers.",
    ),
    WrongAnswer("ids as floats", _float_ids, "An id names a row, it is not an amount: keep it an int64."),
    WrongAnswer(
        "batch flattened",
        _flattened,
        "Ids may have any shape: each of them is replaced by its vector, so one axis comes "
        "behind those that were there.",
    ),
    WrongAnswer("vectors added up", _summed, "The vectors of the tokens were added up: each token keeps its own."),
)

_MATMUL_WRONG = (
    WrongAnswer(
        "table turned",
        _turned_product,
        "The table must not be turned: row i of the product is (one-hot row i) @ weight, "
        "and the single 1 picks a ROW of weight. Where V = D nothing stops you.",
    ),
    WrongAnswer(
        "negative ids wrap",
        _wraps_product,
        "Indexing, torch.eye(V)[ids] or weight[ids], counts −1 from the end, so an id that is no word got the "
        "last word's row. Call check_ids(ids, len(weight)) first, and let its error through.",
    ),
    WrongAnswer(
        "width left to torch",
        lambda ids, weight: F.one_hot(check_ids(ids, len(weight))).to(weight.dtype) @ weight,
        "You did not give the width, so F.one_hot took the largest id of this batch plus 1, and that many numbers meet"
        " the rows of the table: F.one_hot(ids, len(weight)).",
    ),
    WrongAnswer(
        "width left to torch, ids not checked",
        lambda ids, weight: F.one_hot(ids).to(weight.dtype) @ weight,
        "You did not give the width, so F.one_hot took the largest id of this batch plus 1, and that many numbers meet"
        " the rows of the table: F.one_hot(ids, len(weight)). And check_ids belongs before it.",
    ),
    WrongAnswer(
        "width from the tokens",
        lambda ids, weight: one_hot(ids, len(ids)) @ weight,
        "The width is the number of rows of the table, len(weight). len(ids) is how many tokens there are, so ids were"
        " refused that the table does have.",
    ),
    WrongAnswer(
        "row of zeros",
        _row_of_zeros,
        "An id outside the table got a vector of zeros, and nobody would notice. Call "
        "check_ids(ids, len(weight)) first.",
    ),
    WrongAnswer(
        "integer rows",
        _integer_rows,
        "F.one_hot answers in int64, the table is float32, and a product wants one dtype: "
        "convert the rows with .to(weight.dtype).",
    ),
    WrongAnswer(
        "ids as floats",
        _ids_times_table,
        "The ids themselves were multiplied. An id is a name, not an amount: make the one-hot rows first.",
    ),
    *(wrong for wrong in _LOOKUP_WRONG if wrong.answer in (_detached, _flattened, _summed, _says_too_little)),
)


def _embedding(rows: int, columns: int, dtype: torch.dtype = torch.float32, frozen: bool = False) -> nn.Embedding:
    values = table(rows, columns, seed=rows).detach().to(dtype)
    return nn.Embedding.from_pretrained(values, freeze=frozen)


def _embedding_cases() -> list[Case]:
    return [
        Case("a table (6, 3)", (_embedding(6, 3),), "D V", {"V": 6, "D": 3}),
        Case("a table (4, 7)", (_embedding(4, 7),), "D V", {"V": 4, "D": 7}),
        Case("a square table (5, 5)", (_embedding(5, 5),), "D V", {"V": 5, "D": 5}, only="square tables"),
        Case("a square table (3, 3)", (_embedding(3, 3),), "D V", {"V": 3, "D": 3}, only="square tables"),
    ]


def _read_linear(linear: nn.Linear) -> dict[str, Any]:
    return {
        "bias": "none" if linear.bias is None else "a bias",
        "in_features": linear.in_features,
        "out_features": linear.out_features,
        "trainable": linear.weight.requires_grad,
        "weight": linear.weight.detach(),
    }


def _linear(embedding, turned=True, bias=False, copied=True, swapped=False):
    size, dimension = embedding.weight.shape
    linear = nn.Linear(dimension if swapped else size, size if swapped else dimension, bias=bias)
    values = embedding.weight.T if turned else embedding.weight
    if copied:
        linear.weight = nn.Parameter(values.detach().clone())
    return linear


def _copied_unturned(embedding):
    linear = nn.Linear(*embedding.weight.shape, bias=False)
    with torch.no_grad():
        linear.weight.copy_(embedding.weight)
    return linear


def _reshaped(embedding):
    size, dimension = embedding.weight.shape
    linear = nn.Linear(size, dimension, bias=False)
    linear.weight = nn.Parameter(embedding.weight.detach().reshape(dimension, size))
    return linear


def _frozen(embedding):
    linear = _linear(embedding)
    linear.weight.requires_grad_(False)
    return linear


def _count_cases() -> list[Case]:
    return [
        Case("ids [1, 4, 4, 1, 4] and V = 7", (torch.tensor([1, 4, 4, 1, 4]), 7), "V", {"T": 5, "V": 7}),
        Case(
            "ids of shape (2, 3) and V = 5",
            (torch.tensor([[0, 2, 0], [3, 0, 2]]), 5),
            "V",
            {"B": 2, "T": 3, "V": 5},
        ),
        Case("no ids and V = 4", (torch.tensor([], dtype=torch.int64), 4), "V", {"T": 0, "V": 4}, only="trivial"),
        Case(
            "four different ids and V = 6",
            (torch.tensor([5, 0, 3, 1]), 6),
            "V",
            {"T": 4, "V": 6},
            only="ids without repeats",
        ),
        Case(
            "two sentences without repeats and V = 7",
            (torch.tensor([[6, 1], [0, 4], [2, 5]]), 7),
            "V",
            {"B": 3, "T": 2, "V": 7},
            only="ids without repeats",
        ),
    ]


def _marked(ids, vocabulary_size):
    counts = torch.zeros(vocabulary_size, dtype=torch.int64)
    counts[ids] += 1
    return counts


def _used_or_not(ids, vocabulary_size):
    return _marked(ids, vocabulary_size) > 0


EXERCISES = (
    Exercise(
        name="lookup_by_matmul",
        lesson="02",
        solution=lookup_by_matmul,
        cases=_lookup_cases,
        result=torch.Tensor,
        gradient=1,
        wrong=_MATMUL_WRONG,
        hints=(
            "Two steps: ids to one-hot rows, then rows times the table. Which sizes have to meet in the product?",
            (
                "(…, V) @ (V, D): the table stays as it is. F.one_hot answers in int64, so convert the rows to the"
                " dtype of the table first."
            ),
            "check_ids(ids, len(weight)), then F.one_hot(ids, len(weight)).to(weight.dtype) @ weight.",
        ),
        praise=(
            "A one-hot row has one 1, so its product with the table keeps one row and throws the others away:"
            " weight[ids] gives the same."
        ),
    ),
    Exercise(
        name="lookup_by_index",
        lesson="02",
        solution=lookup_by_index,
        cases=_lookup_cases,
        result=torch.Tensor,
        gradient=1,
        wrong=_LOOKUP_WRONG,
        hints=(
            "Indexing with a tensor of ids gives a row for each of them, in their shape.",
            "weight[ids] is nearly all. What does it do with an id of −1?",
            "check_ids(ids, len(weight)) on the first line, return weight[ids] on the second.",
        ),
        praise="The same numbers as the product, and nothing was multiplied.",
    ),
    Exercise(
        name="linear_from_embedding",
        lesson="02",
        solution=linear_from_embedding,
        cases=_embedding_cases,
        result=nn.Linear,
        read=_read_linear,
        wrong=(
            WrongAnswer(
                "weight not turned",
                lambda e: _linear(e, turned=False),
                "The table is stored (V, D), one row a word. "
                "nn.Linear stores (out, in) = (D, V): copy the table turned.",
            ),
            WrongAnswer(
                "copied without a turn",
                _copied_unturned,
                "The table is stored (V, D), one row a word. nn.Linear stores (out, in) = (D, V): copy the table"
                " turned.",
            ),
            WrongAnswer(
                "sizes and weight not turned",
                lambda e: _linear(e, turned=False, swapped=True),
                "This layer wants D "
                "numbers and gives V. It has to take a one-hot row of V numbers: nn.Linear(V, D), with the table "
                "turned.",
            ),
            WrongAnswer(
                "bias left on",
                lambda e: _linear(e, bias=True),
                "The layer still has its bias, numbers that are "
                "added to every word's vector. A lookup adds nothing: bias=False.",
            ),
            WrongAnswer(
                "bias left on, weight not turned",
                lambda e: _linear(e, bias=True, turned=False),
                "Two things: the layer "
                "still has its bias (a lookup adds nothing), and the table (V, D) has to be turned to (D, V).",
            ),
            WrongAnswer(
                "weight reshaped",
                _reshaped,
                "reshape reads the numbers in the same order into another form, so it "
                "mixes rows and columns. Turning is .T.",
            ),
            WrongAnswer("frozen", _frozen, "The weight does not train (requires_grad is False), but the table did."),
        ),
        hints=(
            (
                "How many numbers does the layer take, and how many does it give? A one-hot row goes in, a word's"
                " vector comes out."
            ),
            "nn.Linear(V, D, bias=False). Its weight has the shape (D, V); the table has (V, D).",
            (
                "A layer's numbers are replaced by hand under no_grad, as in the cell above: with torch.no_grad():"
                " linear.weight.copy_(embedding.weight.T)"
            ),
        ),
        praise="nn.Embedding and nn.Linear hold the same table, one lying, one standing.",
    ),
    Exercise(
        name="rows_with_gradient",
        lesson="02",
        solution=rows_with_gradient,
        cases=_count_cases,
        result=torch.Tensor,
        wrong=(
            WrongAnswer(
                "once in each sentence",
                lambda ids, v: (
                    F.one_hot(ids, v).amax(-2).reshape(-1, v).sum(0) if ids.ndim > 1 else F.one_hot(ids, v).sum(0)
                ),
                "A loop over a batch gives whole sentences, and counts[sentence] += 1 adds once for each DIFFERENT"
                " id in it: loop over ids.flatten().",
            ),
            WrongAnswer(
                "each row once",
                _marked,
                "Each row that is used has a 1, however often it is used: a row that is used three times gets three"
                " gradients. (If your code has counts[ids] += 1: the right side is computed first, then written, so"
                " each DIFFERENT id adds once.) Use a loop over ids.flatten(), bincount or index_add_.",
            ),
            WrongAnswer(
                "used or not",
                _used_or_not,
                "Used or not is only half the answer: how OFTEN each row is used decides how much gradient it gets.",
            ),
            WrongAnswer(
                "width from the batch",
                lambda ids, v: torch.bincount(ids.flatten()),
                "Without minlength the result ends at "
                "the largest id of this batch. Rows without a gradient count too: they get 0.",
            ),
            WrongAnswer(
                "width from the batch, one axis only",
                lambda ids, v: torch.bincount(ids),
                "Two things: without minlength the result ends at the largest id of this batch, and bincount takes ids"
                " of one axis only, so flatten them first.",
            ),
            WrongAnswer(
                "one axis only",
                lambda ids, v: torch.bincount(ids, minlength=v),
                "bincount takes ids of one axis only: flatten the batch first.",
            ),
            WrongAnswer(
                "how many rows are used",
                lambda ids, v: len(ids.unique()),
                "That is how many different rows are used, one number. Wanted is a number for each of the V rows.",
            ),
            WrongAnswer(
                "per position",
                lambda ids, v: F.one_hot(ids, v),
                "These are the one-hot rows, one for each token. Their sum over all tokens is the answer.",
            ),
            WrongAnswer(
                "one sentence only",
                lambda ids, v: F.one_hot(ids, v).sum(0),
                "The sum runs over the first axis only. With a "
                "batch of sentences all tokens have to be counted: flatten the ids first.",
            ),
            WrongAnswer(
                "list of ids",
                lambda ids, v: ids.unique(),
                "These are the ids that occur. Wanted is a number for each of the "
                "V rows, with 0 where a row is not used.",
            ),
        ),
        hints=(
            "Each use of a row adds to its gradient. So the question is: how often does each id occur?",
            ("Beware of counts[ids] += 1: it adds only once for each different id. A loop over ids.flatten() is safe."),
            "torch.bincount(ids.flatten(), minlength=vocabulary_size) does the loop for you.",
        ),
        praise="Each use adds its gradient to the row; a row without a use gets none.",
    ),
)

QUESTIONS = (
    Question(
        name="product_or_lookup",
        lesson="02",
        text=(
            "A one-hot row with its 1 in place 3, counted from 0, is multiplied by a table with 6 rows. What comes out?"
        ),
        options=(
            Option(
                "row 3 of the table",
                "Each row of the table is multiplied by 0, except row 3, which is multiplied by 1. The sum "
                "of all is row 3.",
                right=True,
            ),
            Option(
                "column 3 of the table",
                "The row times the table: the 1 meets ROW 3. It would meet a column if the table stood on the left.",
            ),
            Option("the sum of all six rows", "That would take a row of six ones."),
            Option(
                "three times row 1",
                "The 1 is a weight, its place is the id. The id itself, 3, is nowhere among the numbers.",
            ),
        ),
    ),
    Question(
        name="twice_in_a_sentence",
        lesson="02",
        text=(
            "The word 'the' stands twice in a sentence, 'cat' once, 'dog' not at all. If every number of the result"
            " counts the same, how much gradient do their three rows get?"
        ),
        options=(
            Option(
                "the same: all three belong to the table",
                "Only what was used can have an influence on the result. 'dog' was not used.",
            ),
            Option(
                "'the' twice as much as 'cat', 'dog' none",
                "Each use adds its gradient to the row. No use, no gradient.",
                right=True,
            ),
            Option(
                "'the' and 'cat' the same, 'dog' none",
                "'the' was used at two places, and each place passes its gradient on to the same row.",
            ),
            Option(
                "none: a lookup has no gradient",
                "The ids have none, but the rows that were picked do: they are copied into the "
                "result, number for number.",
            ),
        ),
    ),
    Question(
        name="work",
        lesson="02",
        text=(
            "256 tokens, a vocabulary of 50,000 words, vectors of 64 numbers. How many multiplications does the"
            " product of one-hot rows and table take, and how many the lookup?"
        ),
        options=(
            Option(
                "both the same, since the results are equal",
                "The same numbers can be had by more or by less work: nearly all of "
                "those products are 0 times something.",
            ),
            Option(
                "16,384 and none",
                "16,384 = 256 × 64 are the numbers of the result: what the lookup copies. For each of them the "
                "product adds up 50,000 terms.",
            ),
            Option(
                "819,200,000 and 16,384",
                "The first number is right. The lookup copies 16,384 numbers; copying is no multiplication.",
            ),
            Option(
                "819,200,000 and none",
                "T·V·D = 256 × 50,000 × 64 multiplications, all but 16,384 of them by zero. A lookup copies "
                "and multiplies nothing.",
                right=True,
            ),
        ),
    ),
)
