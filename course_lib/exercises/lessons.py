"""The lessons of the course, in their order, and the exercises of each in the order of the notebook."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    """Number, title, minutes for one learner, the question that it settles, and the names of its exercises."""

    number: str
    title: str
    minutes: int
    question: str
    exercises: tuple[str, ...]


LESSONS = (
    Lesson(
        "00",
        "Start here",
        10,
        "How does this course work, and is my computer ready?",
        ("numbers_in",),
    ),
    Lesson(
        "01",
        "Words as one-hot codes",
        50,
        "How can a machine tell words apart, and what does that cost?",
        ("tokenize", "build_vocabulary", "one_hot", "one_hot_bytes"),
    ),
    Lesson(
        "02",
        "Looking up is multiplying",
        60,
        "Is an embedding layer new, or a product that nobody carries out?",
        ("lookup_by_matmul", "lookup_by_index", "linear_from_embedding", "rows_with_gradient"),
    ),
    Lesson(
        "03",
        "Learning word vectors",
        80,
        "Where do the numbers in the table come from?",
        ("skip_gram_pairs", "negative_sampling_loss", "nearest", "analogy"),
    ),
    Lesson(
        "04",
        "From image to patches",
        65,
        "A sentence has spaces. Where are the spaces in a picture?",
        ("count_patches", "patchify", "unpatchify", "unread_pixels"),
    ),
    Lesson(
        "05",
        "One matrix for every patch",
        45,
        "A word has a row in a table. What does a patch have?",
        ("project", "encoder_parameters", "channels_last_weight"),
    ),
    Lesson(
        "06",
        "A convolution that is a projection",
        85,
        "The paper says linear, the code says Conv2d. Which is it?",
        ("conv_from_linear", "linear_from_conv", "merge_linear_into_conv", "PatchEmbedding"),
    ),
    Lesson(
        "07",
        "A place and a summary",
        60,
        "If all patches are shuffled, does the transformer notice?",
        ("prepend_class_token", "add_positions", "resize_positions"),
    ),
    Lesson(
        "08",
        "The hybrid",
        55,
        "Is the strided convolution the hybrid of the paper?",
        ("pixelwise_linear", "hybrid_tokens", "HybridEmbedding", "receptive_field"),
    ),
    Lesson(
        "09",
        "A dictionary of patches",
        45,
        "Could patches be looked up, as words are?",
        ("nearest_code", "decode", "quantisation_error"),
    ),
    Lesson(
        "10",
        "A small vision transformer",
        60,
        "Does it all work together?",
        ("PatchTokens", "vit_parameters"),
    ),
)
