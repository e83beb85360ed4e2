"""The lessons of the course, in their order, and the exercises of each in the order of the notebook."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from course_lib import COURSE


@dataclass(frozen=True)
class Lesson:
    """Name, title, minutes for one learner, the question that it settles, and the names of its exercises."""

    name: str
    title: str
    minutes: int
    question: str
    exercises: tuple[str, ...]

    @property
    def number(self) -> str:
        """Two digits, as in "04"."""
        return self.name[:2]

    @property
    def file(self) -> str:
        """The name of its notebook."""
        return f"{self.name}.ipynb"


LESSONS = (
    Lesson(
        "00_start_here",
        "Start here",
        10,
        "How does this course work, and is my computer ready?",
        ("numbers_in",),
    ),
    Lesson(
        "01_words_as_one_hot",
        "Words as one-hot codes",
        50,
        "How can a machine tell words apart, and what does that cost?",
        ("tokenize", "build_vocabulary", "one_hot", "one_hot_bytes"),
    ),
    Lesson(
        "02_lookup_is_multiplying",
        "Looking up is multiplying",
        60,
        "Is an embedding layer new, or a product that nobody carries out?",
        ("lookup_by_matmul", "lookup_by_index", "linear_from_embedding", "rows_with_gradient"),
    ),
    Lesson(
        "03_learning_word_vectors",
        "Learning word vectors",
        80,
        "Where do the numbers in the table come from?",
        ("skip_gram_pairs", "negative_sampling_loss", "nearest", "analogy"),
    ),
    Lesson(
        "04_image_to_patches",
        "From image to patches",
        65,
        "A sentence has spaces. Where are the spaces in a picture?",
        ("count_patches", "patchify", "unpatchify", "unread_pixels"),
    ),
    Lesson(
        "05_one_matrix_for_every_patch",
        "One matrix for every patch",
        45,
        "A word has a row in a table. What does a patch have?",
        ("project", "encoder_parameters", "channels_last_weight"),
    ),
    Lesson(
        "06_convolution_is_projection",
        "A convolution that is a projection",
        85,
        "The paper says linear, the code says Conv2d. Which is it?",
        ("conv_from_linear", "linear_from_conv", "merge_linear_into_conv", "PatchEmbedding"),
    ),
    Lesson(
        "07_place_and_summary",
        "A place and a summary",
        60,
        "If all patches are shuffled, does the transformer notice?",
        ("prepend_class_token", "add_positions", "resize_positions"),
    ),
    Lesson(
        "08_hybrid",
        "The hybrid",
        55,
        "Is the strided convolution the hybrid of the paper?",
        ("pixelwise_linear", "hybrid_tokens", "HybridEmbedding", "receptive_field"),
    ),
    Lesson(
        "09_dictionary_of_patches",
        "A dictionary of patches",
        45,
        "Could patches be looked up, as words are?",
        ("nearest_code", "decode", "quantisation_error"),
    ),
    Lesson(
        "10_small_vision_transformer",
        "A small vision transformer",
        60,
        "Does it all work together?",
        ("PatchTokens", "vit_parameters"),
    ),
)


def notebooks() -> list[Path]:
    """The notebook of each lesson, in their order."""
    return [COURSE / "notebooks" / lesson.file for lesson in LESSONS]
