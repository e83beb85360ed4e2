"""The small vision transformer: equal to torchvision's with the same weights, counted right, and able to learn."""

import copy

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


def torchvision_model(seed):
    from torchvision.models import VisionTransformer

    with seeded(seed):
        model = VisionTransformer(
            image_size=24, patch_size=6, num_layers=3, num_heads=4, hidden_dim=32, mlp_dim=48, num_classes=7
        ).eval()
        for parameter in model.parameters():  # its head starts with zeros, which would compare nothing
            nn.init.normal_(parameter, std=0.1)
    return model


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_with_torchvisions_weights_it_gives_torchvisions_numbers(seed):
    theirs = torchvision_model(seed).double()
    ours = vit.from_torchvision(theirs).double()
    images = torch.rand(3, 3, 24, 24, generator=torch.Generator().manual_seed(seed)).double()
    with torch.no_grad():
        assert torch.allclose(ours(images), theirs(images), rtol=1e-10, atol=1e-12)


def test_attention_weights_are_those_that_mix_the_values():
    model, images = small(), torch.rand(2, 2, 8, 12)
    weights = model.attention_weights(images)
    assert weights.shape == (2, 2, 3, 7, 7)
    assert torch.allclose(weights.sum(-1), torch.ones(2, 2, 3, 7), atol=1e-5)
    block = model.blocks[0]
    tokens = block.norm1(model.embedding(images))
    mixed = (weights[0] @ block.attention.split(tokens)[2]).transpose(1, 2).flatten(2)
    assert torch.allclose(block.attention.out(mixed), block.attention(tokens), atol=1e-5)


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
    history = vit.train(
        model, digits.train_images, digits.train_labels, epochs=6, batch_size=32, held_out=held_out
    )
    assert len(history.losses) == len(history.accuracies) == 6
    assert history.accuracies[-1] > 0.75  # three seeds gave 0.88 to 0.93, chance is 0.1
    assert vit.accuracy(model, *held_out) == history.accuracies[-1]


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
