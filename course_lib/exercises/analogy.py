"""Lesson 03, analogy: the id whose row is nearest to row b − row a + row c, with a, b and c left out."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, WrongAnswer
from course_lib.exercises.vector_tables import cosine, table_of


def analogy(a, b, c, weight):
    target = weight[b] - weight[a] + weight[c]
    similarity = F.cosine_similarity(weight, target.unsqueeze(0), dim=1)
    similarity[[a, b, c]] = -torch.inf
    return similarity.argmax().item()


def cases() -> list[Case]:
    # Seeds by which each of the three words, the lengths and the signs decide about the winner somewhere.
    cases = []
    for rows, columns, seed in ((12, 5, 28), (10, 6, 6), (8, 3, 32), (9, 4, 1), (11, 4, 6), (8, 5, 23)):
        weight = table_of(rows, columns, seed)
        cases.append(
            Case(
                f"a = 1, b = 4, c = 6 and a table ({rows}, {columns})",
                (1, 4, 6, weight),
                letters={"V": rows, "D": columns},
            )
        )
    weight = table_of(10, 6, 18)
    label = "a = 2, b = 7, c = 5 and a table (10, 6)"
    cases.append(Case(label, (2, 7, 5, weight), letters={"V": 10, "D": 6}))
    return cases


def _analogy(signs=(-1, 1, 1), left_out=(0, 1, 2), score=cosine, best=True):
    def wrong(a, b, c, weight):
        target = signs[0] * weight[a] + signs[1] * weight[b] + signs[2] * weight[c]
        similarity = score(target, weight)
        for place in left_out:
            similarity[(a, b, c)[place]] = -torch.inf if best else torch.inf
        return (similarity.argmax() if best else similarity.argmin()).item()

    return wrong


def _other_target(a, b, c, weight, target):
    similarity = cosine(target, weight)
    similarity[[a, b, c]] = -torch.inf
    return similarity.argmax().item()


def _ranked(place):
    return lambda a, b, c, w: cosine(w[b] - w[a] + w[c], w).argsort(descending=True)[place].item()


def _first_of(count):
    """The nearest row that is no word of the question, sought among so many; None where there is none."""

    def wrong(a, b, c, weight):
        nearest_rows = cosine(weight[b] - weight[a] + weight[c], weight).topk(count).indices.tolist()
        return next((row for row in nearest_rows if row not in (a, b, c)), None)

    return wrong


WRONG = mistakes(
    analogy,
    r"""
ids calculated
    You calculated with the ids. Ids are only names: take the rows, weight[b] − weight[a] + weight[c], and look for
    the nearest row.
        return b - a + c

question words not left out
    One of the three words of the question won. They are often the nearest, so they are left out.
        return _analogy(left_out=())(a, b, c, weight)

b not left out
    All three words of the question are left out, b as well.
        [a, b, c] → [a, a, c]

a − b + c
    The step goes from a to b: b − a, then on from c.
        weight[b] - weight[a] → weight[a] - weight[b]

a + b − c
    The step goes from a to b: b − a, then on from c.
        return _analogy(signs=(1, 1, -1))(a, b, c, weight)

all added
    The three rows were added. a is subtracted: b − a + c.
        return _analogy(signs=(1, 1, 1))(a, b, c, weight)

dot product
    That is the dot product: long rows win. Compare by cosine.
        return _analogy(score=lambda v, w: w @ v)(a, b, c, weight)

least similar
    The least similar row won: argmax, not argmin.
        return _analogy(best=False)(a, b, c, weight)

three asked for, the first of those left
    A list had no such entry. If you took the nearest rows and left out the words of the question: of three rows
    none may be left. Ask for the four nearest.
        return [
            row
            for row in cosine(weight[b] - weight[a] + weight[c], weight).topk(3).indices.tolist()
            if row not in (a, b, c)
        ][0]

a not left out
    a is a word of the question as well: it must not win.
        [a, b, c] → [b, b, c]

left out with a 0
    0 is no small cosine: where all others are negative, 0 wins. Use −infinity.
        similarity = cosine(weight[b] - weight[a] + weight[c], weight)
        similarity[[a, b, c]] = 0
        return similarity.argmax().item()

ids of a shorter table
    The three rows were taken out of the table, so the ids behind them moved up. Keep the table, and give their
    similarities −infinity.
        rest = [row for row in range(len(weight)) if row not in (a, b, c)]
        return cosine(weight[b] - weight[a] + weight[c], weight[rest]).argmax().item()

b − a − c
    c was subtracted. The step b − a starts from c: b − a + c.
        weight[b] - weight[a] + weight[c] → weight[b] - weight[a] - weight[c]

b forgotten
    b has no part in this: it is the nearest to a + c. The step goes from a to b: b − a + c.
        weight[b] - weight[a] → weight[a]

step from b
    The step b − a was taken from b once more. It starts from c: b − a + c.
        return _other_target(a, b, c, weight, 2 * weight[b] - weight[a])

step from a to c
    The step was taken from a to c. It goes from a to b, and then on from c: b − a + c.
        return _other_target(a, b, c, weight, 2 * weight[c] - weight[a])

step multiplied
    The step b − a was multiplied with c. It is added to it: b − a + c.
        weight[b] - weight[a] + weight[c] → (weight[b] - weight[a]) * weight[c]

b − a alone
    b − a is the step. It starts from c: b − a + c.
        weight[b] - weight[a] + weight[c] → weight[b] - weight[a]

nearest to c
    That is the nearest to c. The step b − a is missing.
        return _analogy(signs=(0, 0, 1))(a, b, c, weight)

second place
    The best was skipped, whichever it was. Leave out a, b and c by their ids, then take the best.
        return _ranked(1)(a, b, c, weight)

fourth place
    The three best were skipped, whichever they were. Leave out a, b and c by their ids.
        return _ranked(3)(a, b, c, weight)

distance
    That is the distance between the points. Compare directions, by cosine.
        return _analogy(score=lambda v, w: -(w - v).norm(dim=1))(a, b, c, weight)

the point, not the word
    That is the point b − a + c. Wanted is the id of the row that is nearest to it.
        return weight[b] - weight[a] + weight[c]
""",
    cosine=cosine,
)


FAMILIES = tuple(
    WrongAnswer(
        name,
        _first_of(count),
        "Now and then the nearest rows are all words of the question, and then nothing is left to return. Three"
        " words can be in the way: ask for the four nearest.",
    )
    for name, count in (("too few asked for", 2), ("three asked for", 3))
)


EXERCISE = Exercise(
    name="analogy",
    solution=analogy,
    cases=cases,
    result=int,
    wrong=WRONG + FAMILIES,
    hints=(
        "king − man + woman: what is b, what is a, what is c here?",
        "target = weight[b] - weight[a] + weight[c]. Then as in nearest, but a, b and c must not win.",
        "similarity[[a, b, c]] = -torch.inf, then similarity.argmax().item().",
    ),
    praise="Three words were left out: the lesson counts how much that rule does.",
)
