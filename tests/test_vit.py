"""The small vision transformer: equal to torchvision's with the same weights, counted right, and able to learn."""

import copy
import re
from functools import partial

import pytest
import torch
from torch import nn

from course_lib import data, vit
from course_lib.embed import ConvPatchEmbedding, LinearPatchEmbedding, conv_from_linear
from course_lib.reproducible import seeded


def small(front=None, tokens=6, **changes):
    sizes = {"dimension": 12, "depth": 2, "heads": 3, "hidden": 20, "classes": 5, **changes}
    embedding = vit.PatchTokens(front or ConvPatchEmbedding(2, 4, 12), tokens, sizes["dimension"])
    return vit.VisionTransformer(embedding, **sizes)


def torchvision_model(seed, **changes):
    from torchvision.models import VisionTransformer

    sizes = {"image_size": 24, "patch_size": 6, "num_layers": 3, "num_heads": 4, "hidden_dim": 32, "mlp_dim": 48}
    with seeded(seed):
        model = VisionTransformer(num_classes=7, **sizes, **changes).eval()
        for parameter in model.parameters():  # its head starts with zeros, which would compare nothing
            nn.init.normal_(parameter, std=0.1)
    return model


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_with_torchvisions_weights_it_gives_torchvisions_numbers(seed):
    theirs = torchvision_model(seed).double()
    assert_equal_scores(vit.from_torchvision(theirs), theirs)


def assert_equal_scores(ours, theirs):
    images = torch.rand(3, 3, 24, 24, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    with torch.no_grad():
        assert torch.allclose(ours(images), theirs(images), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_torchvisions_numbers_stay_what_they_are_in_every_dtype(dtype):
    theirs = torchvision_model(0).to(dtype)
    ours = vit.from_torchvision(theirs)
    assert {value.dtype for value in ours.state_dict().values()} == {dtype}
    assert torch.equal(ours.blocks[2].attention.to_qkv.weight, theirs.encoder.layers[2].self_attention.in_proj_weight)
    assert torch.equal(ours.embedding.positions, theirs.encoder.pos_embedding[0])
    assert torch.equal(ours.embedding.front.projection.weight, theirs.conv_proj.weight)


def test_taking_torchvisions_numbers_leaves_the_random_stream_alone():
    theirs, stream = torchvision_model(0), torch.random.get_rng_state()
    vit.from_torchvision(theirs)
    assert torch.equal(torch.random.get_rng_state(), stream)


@pytest.mark.parametrize("eps", [1e-5, 0.1])
def test_another_eps_of_layer_norm_is_taken_over(eps):
    theirs = torchvision_model(0, norm_layer=partial(nn.LayerNorm, eps=eps)).double()
    assert_equal_scores(vit.from_torchvision(theirs), theirs)


def test_dropout_does_nothing_in_evaluation():
    theirs = torchvision_model(0, dropout=0.3, attention_dropout=0.2).double()
    assert_equal_scores(vit.from_torchvision(theirs), theirs)


def test_what_ours_has_no_counterpart_for_is_named():
    from torchvision.models.vision_transformer import ConvStemConfig

    stem = [ConvStemConfig(out_channels=8, kernel_size=3, stride=2), ConvStemConfig(8, 3, 3)]
    cases = {
        "a stem of several convolutions, which": torchvision_model(0, conv_stem_configs=stem),
        "a head of several layers, which": torchvision_model(0, representation_size=32),
        "norms other than LayerNorm, which": torchvision_model(0, norm_layer=nn.RMSNorm),
        "dropout in training \\(call eval\\(\\) on it first\\), which": torchvision_model(0, dropout=0.3).train(),
        "several convolutions and a head": torchvision_model(0, conv_stem_configs=stem, representation_size=9),
    }
    for told, model in cases.items():
        with pytest.raises(ValueError, match=f"this model has .*{told}"):
            vit.from_torchvision(model)
    with pytest.raises(TypeError, match="expected a torchvision.models.VisionTransformer, got Sequential"):
        vit.from_torchvision(nn.Sequential())


def test_attention_weights_are_those_that_mix_the_values():
    model, images = small(), torch.rand(2, 2, 8, 12)
    weights = model.attention_weights(images)
    assert weights.shape == (2, 2, 3, 7, 7)
    assert torch.allclose(weights.sum(-1), torch.ones(2, 2, 3, 7), rtol=0, atol=1e-5)
    block = model.blocks[0]
    tokens = block.norm1(model.embedding(images))
    mixed = (weights[0] @ block.attention.split(tokens)[2]).transpose(1, 2).flatten(2)
    assert torch.allclose(block.attention.out(mixed), block.attention(tokens), rtol=0, atol=1e-5)


def test_vit_b_16_has_86_567_656_parameters_by_our_count_and_by_torchvisions():
    from torchvision.models import vit_b_16

    counted = vit.vit_parameters(
        channels=3, patch_size=16, image_size=224, dimension=768, depth=12, hidden=3072, classes=1000
    )
    with torch.device("meta"):
        theirs = sum(parameter.numel() for parameter in vit_b_16().parameters())
    assert counted == theirs == 86_567_656


@pytest.mark.parametrize(("depth", "hidden", "classes"), [(1, 20, 5), (3, 7, 2)])
def test_the_count_is_that_of_the_model(depth, hidden, classes):
    model = small(tokens=4, depth=depth, hidden=hidden, classes=classes)
    counted = vit.vit_parameters(
        channels=2, patch_size=4, image_size=8, dimension=12, depth=depth, hidden=hidden, classes=classes
    )
    assert counted == sum(parameter.numel() for parameter in model.parameters())


def test_heads_that_do_not_divide_the_dimension_are_refused():
    with pytest.raises(ValueError, match="dimension 12 is not a multiple of the number of heads 5"):
        small(heads=5)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: small(heads=-3), ValueError, "heads must be at least 1, got -3"),
        (lambda: small(heads=True), TypeError, "heads must be a whole number, got True"),
        (lambda: small(depth=0), ValueError, "depth must be at least 1, got 0"),
        (lambda: small(hidden=0), ValueError, "hidden must be at least 1, got 0"),
        (lambda: small(tokens=0), ValueError, "num_patches must be at least 1, got 0"),
        (lambda: counted(image_size=225), ValueError, "image size 225 is not a multiple of patch size 16"),
        (lambda: counted(hidden=3.0), TypeError, "hidden must be a whole number, got 3.0: use 3 or //"),
        (lambda: counted(depth=True), TypeError, "depth must be a whole number, got True"),
        (lambda: learn(epochs=0), ValueError, "epochs must be at least 1, got 0"),
        (lambda: learn(epochs=True), TypeError, "epochs must be a whole number, got True"),
        (lambda: learn(batch_size=-1), ValueError, "batch_size must be at least 1, got -1"),
        (lambda: learn(labels=9), ValueError, "got labels (9,) for 8 images"),
        (lambda: learn(labels=7), ValueError, "got labels (7,) for 8 images"),
        (lambda: learn(images=0, labels=0), ValueError, "at least one image, got labels (0,) for 0 images"),
        (lambda: learn(held_out=(torch.zeros(4, 2, 8, 12), torch.zeros(4, 1))), ValueError, "(4, 1) for 4 images"),
    ],
)
def test_what_is_no_size_or_does_not_fit_is_named(call, error, text):
    with pytest.raises(error, match=re.escape(text)):
        call()


def counted(**changes):
    sizes = {"channels": 3, "patch_size": 16, "image_size": 224, "dimension": 8, "depth": 1, "hidden": 3, "classes": 2}
    return vit.vit_parameters(**{**sizes, **changes})


def learn(*, images=8, labels=8, epochs=1, **more):
    return vit.train(small(), torch.zeros(images, 2, 8, 12), torch.zeros(labels).long(), epochs=epochs, **more)


def test_labels_of_another_shape_do_not_count_every_pair():
    model, images = small(), torch.rand(6, 2, 8, 12)
    answers = model(images).argmax(dim=1)
    assert vit.accuracy(model, images, answers) == 1.0
    with pytest.raises(ValueError, match=re.escape("got labels (6, 1) for 6 images")):
        vit.accuracy(model, images, answers[:, None])


def test_tokens_and_positions_have_to_be_as_many():
    with pytest.raises(ValueError, match=re.escape("positions (8, 12) need tokens (B, 8, 12), got (2, 7, 12)")):
        small(tokens=7)(torch.rand(2, 2, 8, 12))


def test_linear_and_convolution_with_the_same_start_take_the_same_course():
    digits = data.digits(size=28)
    images, labels = digits.train_images[:96].double(), digits.train_labels[:96]
    linear = small(LinearPatchEmbedding(1, 7, 12), tokens=16, classes=10).double()
    conv = small(ConvPatchEmbedding(1, 7, 12), tokens=16, classes=10).double()
    state = {name: value for name, value in linear.state_dict().items() if not name.startswith("embedding.front.")}
    conv.load_state_dict(state, strict=False)
    conv.embedding.front.projection = conv_from_linear(linear.embedding.front.projection, channels=1, patch_size=7)
    told = []
    losses = [
        vit.train(model, images, labels, epochs=3, batch_size=32, progress=lambda *done: told.append(done)).losses
        for model in (linear, conv)
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-8)
    assert losses[0][-1] < losses[0][0]
    assert told[:9] == [(step, 9) for step in range(1, 10)]


def test_it_learns_the_digits_within_six_epochs():
    digits = data.digits(size=28)
    with seeded(0):
        model = small(ConvPatchEmbedding(1, 7, 24), tokens=16, dimension=24, heads=4, hidden=48, classes=10)
    held_out = (digits.test_images, digits.test_labels)
    history = vit.train(model, digits.train_images, digits.train_labels, epochs=6, batch_size=32, held_out=held_out)
    assert len(history.losses) == len(history.accuracies) == 6
    assert history.accuracies[-1] > 0.75  # three seeds gave 0.88 to 0.93, chance is 0.1
    assert vit.accuracy(model, *held_out) == history.accuracies[-1]


def test_an_interrupted_look_at_the_accuracy_leaves_the_mode_as_it_was():
    class Stopping(torch.nn.Module):
        def forward(self, images):
            raise KeyboardInterrupt

    model = Stopping()
    with pytest.raises(KeyboardInterrupt):
        vit.accuracy(model, torch.zeros(1, 1, 28, 28), torch.zeros(1))
    assert model.training


def test_an_interrupted_training_leaves_everything_as_it_was():
    digits = data.digits(size=28)
    images, labels = digits.train_images[:96], digits.train_labels[:96]
    with seeded(0):
        model = small(ConvPatchEmbedding(1, 7, 12), tokens=16, classes=10).eval()
    before, stream, threads = copy.deepcopy(model.state_dict()), torch.random.get_rng_state(), torch.get_num_threads()

    def interrupt(done, all_):
        if done == 4:
            assert not torch.equal(model.head.weight, before["head.weight"])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vit.train(model, images, labels, epochs=3, batch_size=32, progress=interrupt)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not model.training and torch.get_num_threads() == threads
    assert torch.equal(torch.random.get_rng_state(), stream)
    again, fresh = copy.deepcopy(model), copy.deepcopy(model)
    losses = [vit.train(one, images, labels, epochs=2).losses for one in (again, fresh)]
    assert losses[0] == losses[1]
