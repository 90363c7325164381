"""The introduction: its numbers come from its cells, its figure shows what it says, its map leads where it says."""

import math
import re

import numpy as np
import pytest
from conftest import BOOK, toc_documents
from reading import prose, run

from highway_lessons import Network, Plain, direct_path, sigmoid, signal_norms, studies
from highway_lessons.studies import living

INTRO = BOOK / "intro.ipynb"
TEXT = prose(INTRO)


@pytest.fixture(scope="module")
def intro():
    return run(INTRO)


def share(intro, kind, gate_bias=-2.0, depth=50):
    """What reaches the bottom, as a share of what enters at the top: geometric means of ten seeds."""
    mid = intro.names["signal_from_above"](gate_bias=gate_bias, depth=depth)[kind].mid
    return mid[0] / mid[-1]


def test_the_numbers_in_the_text_are_measured(intro):
    for number in (
        f"{share(intro, 'highway'):.2g}",
        f"{share(intro, 'plain'):.1e}",
        f"{share(intro, 'highway', gate_bias=-5.0):.2g}",
        f"{1 - sigmoid(-2):.2f}",
        f"{direct_path(sigmoid(-2), 50):.2g}",
    ):
        assert number in TEXT
        assert number in intro.printed["numbers"]


def test_the_sentences_about_size_hold(intro):
    assert "passes it on whole" in TEXT
    assert 1 <= share(intro, "residual") < 1.1
    assert "nearly three\nfactors of ten" in TEXT or "nearly three factors of ten" in TEXT
    assert 2.5 < -math.log10(share(intro, "highway")) < 3
    assert "more than nineteen factors of ten" in TEXT
    assert 19 < -math.log10(share(intro, "plain")) < 20
    assert "at an even rate from block to block" in TEXT
    steps = np.diff(np.log(intro.names["signal_from_above"](gate_bias=-2.0, depth=50)["highway"].mid))
    assert steps.min() > 0.5 * steps.max() > 0
    assert "With He initialisation it would not fall" in TEXT
    assert intro.names["shares"].min() > 0.1


def test_the_band_holds_every_one_of_ten_seeds(intro):
    band = intro.names["band"](Plain(), 20)
    lowest, highest = [], []
    for seed in range(10):
        rng, network = np.random.default_rng(seed), Network(Plain(), depth=20)
        params = network.initialise(rng)
        dh = signal_norms(network, params, rng.normal(size=(16, 64)), rng.integers(0, 10, 16)).dh
        assert (band.low <= dh * (1 + 1e-9)).all()
        assert (dh <= band.high * (1 + 1e-9)).all()
        lowest, highest = [*lowest, dh[0]], [*highest, dh[0]]
    np.testing.assert_allclose([band.low[0], band.high[0]], [min(lowest), max(highest)], rtol=1e-9)
    assert band.mid[0] == pytest.approx(np.prod(lowest) ** (1 / 10))  # geometric


def test_the_sentence_under_the_figure_says_what_it_shows(intro):
    frame = intro.names["signal_from_above"](gate_bias=-8.0, depth=100)
    sentence = intro.names["say"]({"gate_bias": -8.0, "depth": 100}, frame)
    assert f"{frame['highway'].mid[0] / frame['highway'].mid[-1]:.3g} (highway)" in sentence
    assert intro.shown["hero"].value == {"gate_bias": -2.0, "depth": 50}


def test_the_figure_fits_its_axes(intro):
    """The axes are fixed: nothing may leave them at any position of the sliders."""
    source = next(v for k, v in intro.names.items() if k == "signal_from_above")
    for gate_bias, depth in ((-8.0, 5), (-8.0, 100), (0.0, 100)):
        for norms in source(gate_bias=gate_bias, depth=depth).values():
            assert norms.low.min() > 1e-42
            assert norms.high.max() < 1
            assert len(norms.mid) == depth + 1


def test_the_map_links_the_chapters_that_exist_and_no_other():
    linked = set(re.findall(r"\]\((chapters/[\w-]+|appendix/[\w-]+)\.(?:ipynb|md)", TEXT))
    assert linked == set(toc_documents()) - {"intro"}


def test_the_map_names_twelve_chapters_and_says_which_are_planned():
    entries = re.findall(r"^(\d+)\. (.+)$", TEXT, re.MULTILINE)
    assert [int(number) for number, _ in entries] == list(range(1, 13))
    for number, entry in entries:
        exists = list(BOOK.glob(f"chapters/{int(number):02d}-*.ipynb"))
        assert ("Planned" in entry) != bool(exists), entry


def test_it_speaks_of_three_ways_and_of_what_needs_a_kernel():
    for way in ("**Read**", "**Run**", "**Tweak**", "without a kernel"):
        assert way in TEXT


def test_the_living_net_is_what_the_text_says_and_its_deep_twin_loses_nearly_nothing(intro):
    widget = intro.shown["living-net"]
    network = living.net().network
    assert "ten highway blocks of eight units" in TEXT
    assert (network.depth, network.width) == (10, 8)
    assert "its answer for 4096 points" in TEXT
    assert len(widget.made["side"]) ** 2 == 4096
    assert widget._sentence().startswith("Seed 0, all blocks on: right on 100.0 %")
    assert "all fifty blocks can go and nearly nothing happens" in TEXT
    twins = studies.load("lesions").select(data="digits", block="highway", optimiser="sgd").points
    assert {point["depth"] for point in twins} == {50}
    assert max(point["test_accuracy"] - point["all_off_test"] for point in twins) < 0.01
