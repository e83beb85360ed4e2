"""What an error of Python or torch usually means in an answer."""

from __future__ import annotations

import difflib
import inspect
import re
from typing import Any

from torch import Tensor, nn

IMPORTS = {  # a module's usual name -> the line that brings it
    "math": "import math",
    "re": "import re",
    "itertools": "import itertools",
    "functools": "import functools",
    "collections": "import collections",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "from torch.nn import functional as F",
    "Counter": "from collections import Counter",
    "defaultdict": "from collections import defaultdict",
}

ERRORS = (  # pattern in the text of an error, what it means, and where it matters, a pattern in the learner's line
    (
        r"local variable '(\w+)'",
        r"\1 is used before it has a value. Does the line that gives it one stand in a loop or an `if` that was not"
        r" entered?",
    ),
    (
        r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)",
        r"In a product the inner sizes have to meet, and here \1 meets \2. (torch tells it for two plain tables: axes"
        r" in front are merged before, and the weight of a layer is turned.)",
    ),
    (
        r"first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]",
        r"A product of batches needs as many tables on both sides, here \1 and \3, and inner sizes that meet, here \2"
        r" and \4.",
    ),
    (
        r"(?:self|mat2) must be a matrix|batch[12] must be a 3D tensor",
        r"torch.mm takes two plain tables only, and torch.bmm two batches of tables. @ takes both, also one of each.",
    ),
    (r"1D tensors expected, but got", r"torch.dot takes two plain vectors only. @ takes tables and batches too."),
    (
        r"shape '\[(.*?)\]' is invalid for input of size (\d+)",
        r"A reshape keeps the number of numbers: there are \2, and (\1) asks for another number.",
    ),
    (
        r"permute\(.*?input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)",
        r"permute has to name every axis once: the tensor has \1 axes, \2 are named.",
    ),
    (
        r"not enough values to unpack \(expected (\d+), got (\d+)\)",
        r"There are \2 values on the right and \1 names on the left. How many axes does the tensor have?",
    ),
    (r"too many values to unpack", r"There are more values on the right than names on the left."),
    (
        r"a leaf Variable that requires grad is being used in an in-place operation",
        (
            r"Copying by hand is no step that a network should learn from: put the line under `with"
            r" torch.no_grad():`."
        ),
    ),
    (
        r"cannot assign '.*' (?:object )?(?:as|to) parameter",
        (
            r"A layer keeps its numbers as an nn.Parameter: copy into it with .copy_(...), or wrap them in"
            r" nn.Parameter(...)."
        ),
    ),
    (
        r"before Module\.__init__\(\) call|object has no attribute '_(?:parameters|modules|buffers)'",
        r"A layer can hold others only once nn.Module is set up: let `super().__init__()` be the first line of"
        r" __init__.",
    ),
    (
        r"Boolean value of Tensor with",
        r"check_ids raises the error itself: call it on a line of its own, without `if`.",
        r"^(?:el)?if\b.*check_ids\(",
    ),
    (
        r"Boolean value of Tensor with more than one value is ambiguous",
        r"An `if` needs one yes or no, and this tensor has many numbers. Of a comparison take (...).any() or"
        r" (...).all(); whether there is a tensor at all says `is not None`.",
    ),
    (
        (
            r"Expected reduction dim|operation does not have an identity|max\(\) arg is an empty|min\(\) arg is an"
            r" empty"
        ),
        r"Nothing is the largest of no numbers: this input is empty. A comparison with .any() works for it too.",
    ),
    (
        r"tensors used as indices must be|Expected tensor for argument #1 'indices'|indices must be integers",
        r"An index has to be a whole number: keep ids as int64.",
    ),
    (
        r"one_hot is only applicable to index tensor|expects? .*LongTensor",
        r"F.one_hot wants int64: call .long() on the ids first.",
    ),
    (
        r"Class values must be non-negative",
        r"F.one_hot was given a negative id: ids count from 0 to V−1. Is something taken off them?",
    ),
    (
        r"Class values must be smaller",
        r"F.one_hot was given an id that is not below its number of classes, the width of a one-hot row. That is V, the"
        r" number of words, with or without the ones that occur here: in a table (V, D) the number of its rows.",
    ),
    (
        r"to have the same dtype|same dtype, but got|expected scalar type",
        r"Two dtypes meet in one operation: convert one side with .to(other.dtype).",
    ),
    (
        r"Input type \(.*\) and (?:weight|bias) type \(.*\) should be the same",
        r"A layer and its input have two dtypes: make the layer with that of the input. (Made in a forward, it would be"
        r" a new one each time: its place is __init__.)",
    ),
    (
        r"expected input\[.*?\] to have (\d+) channels, but got (\d+) channels",
        r"A convolution that was made for \1 channels gets \2. If it is one that you make: its first number is the"
        r" channels of what goes IN. If it is one that was handed in: is it that one, and does it get what it should?",
    ),
    (
        r"view size is not compatible",
        (
            r"After permute or transpose the numbers no longer lie in memory in reading order: use .reshape in"
            r" place of .view."
        ),
    ),
    (
        r"Dimension out of range \(expected to be in range of \[-1, 0\]",
        r"dim=1 is what cosine_similarity takes unless told otherwise, and two plain vectors have axis 0 only: dim=0.",
        r"^(?!.*\.(?:max|min)\().*cosine_similarity\((?!.*\bdim\b)",
    ),
    (
        r"Dimension out of range \(expected to be in range of \[.*\], but got (-?\d+)\)",
        r"A number given to max or min is an axis, and there is no axis \1 here. The k largest come from topk(k).",
        r"\.(?:max|min)\(\w+",
    ),
    (
        r"Dimension out of range|Tensors must have same number of dimensions",
        r"cat joins tensors with the same number of axes. Which of them is not what you think? An axis is added with"
        r" unsqueeze or expand.",
        r"\b(?:cat|concat|concatenate)\(",
    ),
    (
        r"Dimension out of range \(expected to be in range of \[-(\d+), (\d+)\], but got (-?\d+)\)",
        r"Axis \3 is asked for, and the tensor there has no such axis: its axes are counted 0 to \2, or −1 to −\1 from"
        r" the end.",
    ),
    (
        r"Tensors must have same number of dimensions",
        r"The tensors do not have the same number of axes: give the smaller one an axis, with unsqueeze or expand.",
    ),
    (
        r"Sizes of tensors must match except in dimension 0\. Expected size (\d+) but got size (\d+)",
        r"cat joined along axis 0, the batch; that is its axis unless dim= names another. All other axes have to be"
        r" equal, and here \1 meets \2. Tokens (B, N, D) lie along axis 1.",
    ),
    (
        r"Sizes of tensors must match except in dimension (\d+)\. Expected size (\d+) but got size (\d+)",
        r"cat joined along axis \1. All other axes have to be equal, and here \2 meets \3. expand repeats a tensor"
        r" along an axis of size 1.",
    ),
    (
        r"X1 and X2 must have the same number of columns\. X1: (\d+) X2: (\d+)",
        r"cdist compares rows with rows, and these have \1 and \2 numbers: is one of the tables turned?",
    ),
    (
        r"return_types\.(min|max|sort|topk)",
        r"\1 gives both values and indices: pick one first, as in .values.",
    ),
    (
        r"too many indices for tensor",
        r"There are more indices than axes: count both. (A list of lists counts as one index for each axis: index"
        r" with a tensor of ids.)",
    ),
    (
        r"must be Tensor, not (int|float|tuple|list|str)",
        r"This function of torch takes a tensor, and here a \1 of Python came. torch.tensor(...) makes a tensor of it;"
        r" Python has ways of its own, such as sum, math.prod or a loop.",
    ),
    (
        r"Can't call numpy\(\) on Tensor that requires grad",
        r"numpy knows no gradients: what goes through it could not learn. torch has the same functions.",
    ),
    (r"(tuple|list) index out of range", r"The \1 has fewer entries than are asked for: how long is it on this case?"),
    (r"bincount only supports 1-d", r"bincount takes ids of one axis only: flatten them first."),
    (
        r"Index is supposed to be a vector",
        r"index_select takes ids of one axis only: flatten them before and reshape after, or write table[ids].",
    ),
    (
        r"stack expects each tensor to be equal size",
        r"stack wants equal shapes. To join along an axis that is there already, use torch.cat. If slices are"
        r" stacked, one ran over the border or is empty: [:, :, y:y+P, x:x+P], with y and x going up by P.",
    ),
    (r"module 'torch(?:\.nn)?' has no attribute 'Param", r"It is called nn.Parameter, torch.nn.Parameter in full."),
    (
        r"'int' object has no attribute 'detach'",
        r"nn.Parameter takes a tensor, not a size: nn.Parameter(torch.zeros(...)).",
    ),
    (
        r"unsupported operand type\(s\) for .* '(?:Embedding|Linear|Conv2d)'",
        r"A layer is no tensor: call it, as in layer(ids), or take its .weight.",
    ),
    (r"index out of range in self", r"One of the ids has no row: how many rows does the table need?"),
    (r"bitwise_xor", r"In Python ^ is no power: a square is ** 2."),
    (r"index (-?\d+) is out of bounds", r"There is no entry \1: count from 0, and look at the size once more."),
    (
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)",
        r"Two tensors meet whose sizes differ, \1 and \2: which axes are they? `*` multiplies place by place, lined up"
        r" from the last axis, and an axis of 1 (unsqueeze) is repeated; a product of tables is `@`.",
        r"[\w)\]] ?\* ?[\w(]",
    ),
    (
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)",
        r"Two tensors meet whose sizes differ, \1 and \2: which axes are they? They are lined up from the last axis,"
        r" and an axis of 1 (unsqueeze) is repeated.",
    ),
    (
        r"'builtin_function_or_method' object is not subscriptable|object is not callable",
        r"Round brackets call a function, square brackets pick an entry: which one is meant here?",
    ),
    (
        r"'float' object cannot be interpreted as an integer|(?:must be|tuple of) ints?,? .*float|got float",
        r"A size has to be a whole number: // divides whole numbers, / gives a float.",
    ),
    (
        r"__init__\(\) takes 1 positional argument",
        r"Is there an __init__, with two underscores on each side, and does it take what the cell gives?",
    ),
    (
        r"forward\(\) takes 1 positional argument but 2",
        r"The first argument of a method is self: def forward(self, images).",
    ),
    (
        (
            r"missing \d+ required positional arg|takes (?:from )?\d+ .*positional arg|invalid combination of"
            r" arguments"
        ),
        (
            r"The call in that line gets other arguments than it takes: look at what that function wants, in which"
            r" order."
        ),
    ),
    (
        r"only one element tensors can be converted|a Tensor with \d+ elements cannot be converted to Scalar",
        r"int(...), float(...) and .item() take one number, and here a whole row came. A loop over a tensor goes along"
        r" its first axis only, so over (B, T) it gives whole sentences.",
        r"\b(?:int|float)\(|\.item\(",
    ),
    (
        r"only one element tensors can be converted|only integer tensors of a single element",
        r"A list of tensors becomes one tensor with torch.stack(...).",
    ),
)


def explain_error(error: BaseException, line: str = "", a_class: bool = False) -> str:
    """What a Python or torch error usually means in that line of the learner's, or an empty text.

    `a_class` says that the exercise asks for a class.
    """
    for pattern, meaning, *in_line in ERRORS:
        found = re.search(pattern, str(error), re.DOTALL)
        if found and all(re.search(part, line) for part in in_line):
            return found.expand(meaning)
    if isinstance(error, AttributeError) and getattr(error, "obj", None) is not None:
        return _no_attribute(error.obj, error.name or "", a_class)
    return _no_name(error, a_class)


def _no_name(error: BaseException, a_class: bool) -> str:
    found = re.search(r"name '(\w+)' is not defined", str(error))
    if not isinstance(error, NameError) or not found:
        return ""
    name = found.group(1)
    if name in IMPORTS:
        return (
            f"{name} has to be imported before: write `{IMPORTS[name]}` above your answer. If the first cell of the"
            " lesson has this line, run that cell."
        )
    own = f" (In a class, what __init__ keeps is called self.{name}.)" if a_class else ""
    return (
        f"Run the cells above first: the first one imports what the lesson needs. If {name} is your own name, is it"
        f" spelt the same everywhere?{own}"
    )


def _no_attribute(value: Any, name: str, a_class: bool) -> str:
    """What to tell where `value.name` was asked for and is not there."""
    close = difflib.get_close_matches(name, [one for one in _attributes(value) if one[0] != "_"], n=2, cutoff=0.7)
    nearest = f" What comes nearest: {' or '.join(f'`{one}`' for one in close)}." if close else ""
    if isinstance(value, Tensor):
        hidden = " If you meant a module: is there an argument of that name, which hides it?"
        return f"A tensor has no `{name}`.{nearest or hidden}"
    kind, home = type(value).__name__, type(value).__module__.split(".")[0]
    if a_class and isinstance(value, nn.Module) and home not in ("torch", "course_lib"):
        return (
            f"Nothing here has the name {name}. What forward takes from self has to be made in __init__, spelt the"
            f" same.{nearest}"
        )
    if isinstance(value, nn.Module) and hasattr(Tensor, name) and isinstance(getattr(value, "weight", None), Tensor):
        return f"{kind} is a layer and has no `{name}`; a tensor has it. Its own numbers are the tensor `.weight`."
    if hasattr(Tensor, name) and isinstance(value, (int, float, str, list, tuple, dict)):
        return f"`{name}` belongs to tensors, and here a {kind} of Python stands before the dot."
    if inspect.ismodule(value):
        return f"{value.__name__} has no `{name}`.{nearest}" if nearest else ""
    return f"This is {with_article(kind)}, and it has no `{name}`.{nearest}"


def _attributes(value: Any) -> list[str]:
    try:
        return dir(value)
    except Exception:  # an odd class of the learner's own
        return []


def with_article(name: str) -> str:
    """The name of a class with "a" or "an" before it."""
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
