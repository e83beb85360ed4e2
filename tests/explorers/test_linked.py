"""What lights up together: spots, names and words of each linked picture, held against the library's numbers."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
import torch

from course_lib import codebook, data, embed, hybrid, patches, skipgram, words
from course_lib.explorers.dictionary import patch_dictionary
from course_lib.explorers.patches import draw_one_matrix, draw_patch_grid, draw_two_readings
from course_lib.explorers.reach import draw_reach
from course_lib.explorers.shuffle import draw_shuffled
from course_lib.explorers.vectors import draw_word_map, word_map
from course_lib.explorers.words import draw_sentence_codes, lookup_drawing
from course_lib.showing.drawing import Drawing
from course_lib.showing.live import Live


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def panels(drawing: Drawing, name: str) -> list[str]:
    """The panels in which a name lights up."""
    return [panel for panel, other, *_ in drawing.spots if other == name]


def sound(drawing: Drawing) -> None:
    """Every spot lies on the drawing, every name that is lit or said has one, and no word is missing."""
    names = {name for _, name, *_ in drawing.spots}
    for _, name, x, y, w, h in drawing.spots:
        assert -20 <= x and x + w <= drawing.width + 20 and -20 <= y and y + h <= drawing.height + 20, name
    assert set(drawing.says) <= names
    lit = {other for others in drawing.lights.values() for other in others}
    assert lit <= names and names <= set(drawing.says) | lit
    assert all(text.strip() and text[0] != " " for text in drawing.says.values())


# ---------------------------------------------------------------- the drawing and the page


def linked():
    drawing = Drawing(100, 60, "two squares")
    drawing.rect(0, 0, 20, 20, fill="#0072b2")
    drawing.spot("left", "a <b>", 0, 0, 20, 20)
    drawing.spot("right", "a <b>", 50, 0, 20, 20)
    drawing.spot("right", "quiet", 70.123456, 0, 20, 20)
    drawing.say("a <b>", 'it\'s "<script>alert(1)</script>" & more', ["quiet"])
    return drawing


def test_the_page_gets_spots_and_links_as_escaped_data():
    html = linked().html()
    assert "<script" not in html and html.count("<svg") == 1
    found = re.search(r'data-links="([^"]*)"', html)
    links = json.loads(unescape(found[1]))
    assert links["spots"] == [
        ["left", "a <b>", 0, 0, 20, 20], ["right", "a <b>", 50, 0, 20, 20], ["right", "quiet", 70.12, 0, 20, 20]
    ]  # fmt: skip
    assert links["says"] == {"a <b>": 'it\'s "<script>alert(1)</script>" & more'}
    assert links["lights"] == {"a <b>": ["quiet"]}


def test_a_drawing_without_spots_is_its_svg_and_the_picture_shows_no_spot():
    plain = Drawing(100, 60, "two squares")
    plain.rect(0, 0, 20, 20, fill="#0072b2")
    assert plain.html() == plain.svg() == linked().svg()
    assert plain.picture().png == linked().picture().png


def test_a_spot_has_finite_sides():
    with pytest.raises(ValueError, match="finite"):
        Drawing(10, 10).spot("a", "b", 0, 0, float("nan"), 1)


@pytest.mark.parametrize(("draw", "is_linked"), [(linked, True), (lambda: Drawing(9, 9, "plain"), False)])
def test_a_linked_panel_has_a_line_for_what_is_said(draw, is_linked):
    from course_lib.showing.controls import Slider

    live = Live(lambda size: draw(), size=Slider("Size", 1, 3, 2))
    live.widget  # noqa: B018
    assert live.panel.settings["linked"] is is_linked
    assert live.panel.value == draw().html()
    live.close()


# ---------------------------------------------------------------- lessons 01 to 03


def test_a_word_lights_its_tokens_its_rows_and_its_column():
    drawing = draw_sentence_codes("the cat and the dog")
    sound(drawing)
    assert sorted(panels(drawing, "id 0")) == ["rows", "rows", "tokens", "tokens", "words"]
    assert drawing.says["id 0"] == "'the', token 0 and 3 → id 0 → a row with its only 1 in column 0"


def test_typed_markup_is_said_as_text():
    html = draw_sentence_codes("<img src=x onerror=alert(1)>").html()
    assert "<img" not in html


def test_a_number_of_the_result_tells_its_sum_and_lights_row_and_id():
    tokens = ["a", "b", "a"]
    ids, weight = torch.tensor([2, 0, 2]), numbers(4, 3)
    drawing = lookup_drawing(tokens, ids, weight, token=0)
    sound(drawing)
    assert sorted(panels(drawing, "id 2")) == ["one-hot rows", "one-hot rows", "table"]
    assert drawing.says["id 1"] == "id 1 → row 1 of the table, taken by no token of this sentence"
    assert "row 2 of the table, taken by token 0, 'a' and token 2, 'a'" in drawing.says["id 2"]
    result = embed.lookup_by_index(ids, weight)
    name = "number 1 of token 2"
    assert drawing.says[name].endswith(f"= {result[2, 1]:.2f}") and drawing.lights[name] == ["id 2"]
    assert drawing.says[name].count("0·(") == 3 and drawing.says[name].count("1·(") == 1


def test_a_word_on_the_map_lights_the_words_nearest_to_it():
    sentences = [words.tokenize(sentence)[:-1] for sentence in data.tiny_world()[:400]]
    vocabulary = words.build_vocabulary(sorted({word for sentence in sentences for word in sentence}))
    pairs = skipgram.skip_gram_pairs([[vocabulary[word] for word in sentence] for sentence in sentences], 2)
    vectors = skipgram.train(pairs, len(vocabulary), embedding_dim=8, epochs=1)
    names = sorted(vocabulary)[:12]
    groups = {"first": names[:6], "second": names[6:]}
    planes = skipgram.on_a_plane(vectors.snapshots)
    drawing = draw_word_map(vectors, planes, vocabulary, groups, 1, names[0])
    assert {name for _, name, *_ in drawing.spots} == set(names) == set(drawing.says)
    number = vocabulary[names[3]]
    near = skipgram.nearest(vectors.weight[number], vectors.weight, 4).tolist()
    wanted = [list(vocabulary)[other] for other in near if other != number][:3]
    assert drawing.lights[names[3]] == wanted
    assert drawing.says[names[3]].startswith(f"{names[3]} (first): nearest are {', '.join(wanted)};")
    for epoch in (0, 1):
        first = word_map(vectors, vocabulary, groups, names[0], epoch)
        assert f"after epoch {epoch}." in first.show().text
    with pytest.raises(ValueError, match="value=2"):
        word_map(vectors, vocabulary, groups, names[0], 2)


# ---------------------------------------------------------------- lessons 04 to 06


@pytest.mark.parametrize(("size", "patch_size", "stride"), [(32, 8, 8), (30, 7, 5), (16, 5, 11)])
def test_a_patch_lights_its_row_of_the_matrix(size, patch_size, stride):
    drawing = draw_patch_grid(torch.rand(1, 3, 40, 40), size, patch_size, stride)
    sound(drawing)
    count = patches.count_patches(size, size, patch_size, stride)
    rows = [spot for spot in drawing.spots if spot[0] == "matrix"]
    assert [name for _, name, *_ in rows] == [f"patch {number}" for number in range(count)]
    last, side = f"patch {count - 1}", round(count**0.5)
    start = (side - 1) * stride
    assert drawing.says[last] == (
        f"patch {count - 1} of {count}, row {side - 1}, column {side - 1}: pixels {start} to {start + patch_size - 1}"
        f" down and {start} to {start + patch_size - 1} across → row {count - 1} of the matrix, {3 * patch_size**2}"
        " numbers"
    )
    unread = int((patches.coverage(size, size, patch_size, stride) == 0).sum())
    assert ("unread" in drawing.says) == (unread > 0)
    if unread:
        assert drawing.says["unread"] == f"{unread:,} pixels lie in no patch"


def test_very_many_patches_are_not_pointed_at_one_by_one():
    drawing = draw_patch_grid(torch.rand(1, 1, 64, 64), 64, 2, 1)
    assert drawing.spots == []


def test_tokens_tell_their_distance_and_their_sums():
    image, weight, bias = torch.rand(1, 1, 8, 12), numbers(5, 16), numbers(5, seed=1)
    drawing = draw_one_matrix(image, 4, weight, bias, 1, 4)
    sound(drawing)
    tokens = torch.nn.functional.linear(patches.patchify(image, 4)[0], weight, bias)
    assert drawing.says["patch 3"].endswith(f"lies {(tokens[3] - tokens[1]).norm():.2f} from that of patch 1")
    said = drawing.says["number 2"]
    assert f"= {tokens[1, 2]:.2f} for patch 1" in said and said.endswith(f"give {tokens[4, 2]:.2f} for patch 4")
    assert panels(drawing, "number 2") == ["tokens", "tokens"] and panels(drawing, "patch 4") == ["image", "patches"]


def test_a_pixel_under_the_kernel_lights_its_place_in_the_row():
    image = torch.randint(0, 10, (1, 1, 6, 9), generator=torch.Generator().manual_seed(0)).float()
    weight = (numbers(4, 1, 3, 3) * 10).round() / 10
    drawing = draw_two_readings(image, weight, 4, 2)
    sound(drawing)
    assert panels(drawing, "place 5") == ["image", "row", "row", "row"]
    pixel, factor = image[0, 0, 4, 5].item(), weight[2, 0, 1, 2].item()
    assert f"place 5 of the row: {pixel:.0f} × {factor:.1f} = {pixel * factor:.1f}," in drawing.says["place 5"]


# ---------------------------------------------------------------- lessons 07 to 09


def test_a_place_lights_its_patch_and_both_bars():
    image, weight = torch.rand(1, 1, 8, 8).double(), numbers(6, 4).double()
    attend = lambda tokens: torch.nn.functional.scaled_dot_product_attention(tokens, tokens, tokens)  # noqa: E731
    drawing = draw_shuffled(image, 2, weight, numbers(16, 6, seed=2).double(), attend, 5)
    sound(drawing)
    assert panels(drawing, "place 3") == ["without positions", "with positions", "image"]
    assert all("at most 0.00 without positions" in text for text in drawing.says.values())
    assert len({text.rsplit(", ", 1)[1] for text in drawing.says.values()}) > 3


def test_a_cell_of_the_map_lights_the_pixels_that_it_sees():
    layers = [(3, 2, 1)] * 4
    drawing = draw_reach(torch.rand(1, 3, 224, 224), "a stem", layers, 6, 6)
    sound(drawing)
    assert drawing.lights["cell 20"] == ["seen by cell 20"]
    (top, bottom), (left, right) = hybrid.seen(layers, 1), hybrid.seen(layers, 6)
    assert drawing.says["cell 20"].endswith(f"rows {top} to {bottom}, columns {left} to {right}")
    (spot,) = [spot for spot in drawing.spots if spot[1] == "seen by cell 20"]
    assert spot[4:] == (pytest.approx((right - left + 1) * 320 / 224, abs=0.01),) * 2
    assert draw_reach(torch.rand(1, 3, 224, 224), "fine", [(4, 4, 0)], 6, 6).spots == []


def test_a_code_lights_its_tile_and_all_its_patches():
    image = data.photo(size=48).double()
    live = patch_dictionary(image, codes=4, patch_size=8, across=10, down=10)
    drawing = live._first
    sound(drawing)
    rows = patches.patchify(image, 8)
    uses = torch.bincount(codebook.nearest_code(rows, codebook.kmeans(rows[0], codes=4)).flatten(), minlength=4)
    for code, count in enumerate(uses.tolist()):
        assert len(panels(drawing, f"code {code}")) == 2 * count + 1
        assert drawing.says[f"code {code}"] == f"code {code} stands for {count} of 36 patches, all lit up"
