"""The living net without a kernel: a page opened as a file, network blocked, held against NumPy and moved by hand."""

import base64
import os
import re

import numpy as np
import pytest
from test_sliders_image import expected_colours, pixels
from test_sliders_page import (
    HEAD,
    PHONE,
    assert_fits_a_phone,
    assert_picture,
    assert_readable,
    drawing,
    move_every_slider,
    open_figures,
    sentence,
    stops,
)

from highway_lessons import gates, studies
from highway_lessons.notebook import BUILDING_BOOK
from highway_lessons.sliders import LivingNet, living_net
from highway_lessons.studies import living

SEEDS = [0, 1, 2]
PLANE = gates.plane(n=64)
START = {"blocks_off": [], "gates_frozen": False, "gate_bias_offset": 0.0, "read_after": 10, "probe": False}

# Runs in the page: `answer` of the page's own script, on the whole grid, in each of some states. It gives the logits,
# and the mean over the plane of each unit's gate.
ANSWERS = """
async ([source, made, seed, states]) => {
  const { answer } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const plane = made.side.flatMap((y) => made.side.flatMap((x) => [x, y]));
  return states.map((state) => {
    const { logits, gates } = answer(made.nets[seed], plane, state), bytes = new Uint8Array(logits.buffer);
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    return [btoa(text), gates.map((T) => Array.from({ length: made.width }, (_, unit) =>
      T.filter((_, k) => k % made.width === unit).reduce((sum, gate) => sum + gate) / (T.length / made.width)))];
  });
}
"""
SPEED = """
async ([source, made, state]) => {
  const { answer } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const plane = made.side.flatMap((y) => made.side.flatMap((x) => [x, y])), times = [];
  for (let k = 0; k < 20; k++) {
    const started = performance.now();
    answer(made.nets[0], plane, state);
    times.push(performance.now() - started);
  }
  return times;
}
"""


def make(**options):
    twin = studies.load("lesions").select(data="digits", block="highway", optimiser="sgd").points
    options = {"nets": [living.net(seed) for seed in SEEDS], "twin": twin} | options
    return living_net(caption="A trained network, live, to take apart.", **options)


@pytest.fixture(scope="module")
def widget():
    """The figure of the pages below, in Python; a test that moves it puts it back."""
    return make()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A page for each theme with the figure, and with its small form: a dict of addresses."""
    os.environ[BUILDING_BOOK] = "1"
    try:
        parts = {"": make(), "-small": make(nets=[living.net()], twin=None, small=True)}
        parts = {name: widget._repr_mimebundle_()[0]["text/html"] for name, widget in parts.items()}
    finally:
        del os.environ[BUILDING_BOOK]
    folder, addresses = tmp_path_factory.mktemp("living"), {}
    for theme in ("light", "dark"):
        for name, markup in parts.items():
            path = folder / f"{theme}{name}.html"
            path.write_text(HEAD.format(theme=theme) + markup, encoding="utf-8")
            addresses[theme + name] = path.as_uri()
    return addresses


@pytest.fixture
def figure(page, made):
    [figure] = open_figures(page, made["light"])
    return figure


def block(figure, number):
    return figure.get_by_role("switch", name=re.compile(rf"^Block {number},"))


def python_says(widget, **value):
    """The sentence that Python writes where the reader has done `value`."""
    widget.value = widget.start | value
    try:
        return widget._sentence()
    finally:
        widget.value = widget.start


# JavaScript and NumPy


def states():
    """Every single lesion, ten random multi-lesions, and the other controls alone and with lesions."""
    rng = np.random.default_rng(7)
    several = [sorted(rng.choice(10, rng.integers(2, 10), replace=False) + 1) for _ in range(10)]
    lesions = [[], *[[n] for n in range(1, 11)], *[[int(n) for n in off] for off in several], list(range(1, 11))]
    assert len({tuple(off) for off in lesions}) == 22
    others = [{"gate_bias_offset": offset} for offset in living.OFFSETS]
    others += [{"read_after": n, "probe": probe} for n in range(11) for probe in (False, True)]
    others += [{"gates_frozen": True}, {"gates_frozen": True, "gate_bias_offset": -0.4}]
    others += [{"gates_frozen": True, "blocks_off": [4], "read_after": 7, "probe": True, "gate_bias_offset": 0.2}]
    return [START | {"blocks_off": off} for off in lesions] + [START | other for other in others]


@pytest.mark.parametrize("seed", SEEDS)
def test_javascript_and_numpy_agree_on_the_whole_grid(page, widget, made, seed):
    page.goto(made["light"])
    tried = states()
    for some in (tried[i : i + 10] for i in range(0, len(tried), 10)):
        theirs = page.evaluate(ANSWERS, [LivingNet._esm, widget.made, str(seed), some])
        for state, (logits, means) in zip(some, theirs, strict=True):
            ours = living.answer(living.net(seed), PLANE, **state)
            logits = np.frombuffer(base64.b64decode(logits)).reshape(4096, 2)
            assert abs(logits - ours.logits).max() < 1e-5, state
            np.testing.assert_allclose(means, ours.T.mean(axis=1), atol=1e-9)


def test_the_grid_is_recomputed_in_less_than_50_ms(page, widget, made, record_property):
    """Slow by itself is slow every time; a busy computer is slow now and then."""
    page.goto(made["light"])
    best = np.inf
    for _ in range(20):
        best = min(best, *page.evaluate(SPEED, [LivingNet._esm, widget.made, START]))
        if best < 50:
            break
        page.wait_for_timeout(1000)
    record_property("64 × 64 points through ten blocks, ms", f"{best:.1f}")
    assert best < 50


def test_the_page_says_how_far_it_is_from_python(figure):
    line = figure.get_by_text("Computed here and in Python, the logits differ by at most").inner_text()
    assert float(re.search(r"at most (\S+) \(6 states at 25 points\)", line)[1]) < 1e-9


def test_what_is_drawn_is_what_is_computed(figure, widget):
    for off in ([], [3], [3, 8]):
        for number in off[-1:]:
            block(figure, number).click()
        logits, T = widget.answer(PLANE, blocks_off=off)
        sure = np.tanh((logits[:, 1] - logits[:, 0]) / 2).reshape(64, 64)
        shown = pixels(figure.locator(".hl-cells canvas"))[..., :3].astype(int)
        assert abs(shown - expected_colours(sure, "signed", -1, 1)).max() < 8
        for n in range(10):
            shown = pixels(figure.locator(".hl-blocks canvas").nth(n))[..., :3].astype(int)
            assert abs(shown - expected_colours(T[n].mean(axis=1).reshape(64, 64), "gate", 0, 1)).max() < 8
            tested = widget.answer(living.net(0).x, blocks_off=off).T[n].mean()
            name = f"Block {n + 1}, off" if n + 1 in off else f"Block {n + 1}, mean gate {tested:.2f}"
            assert figure.get_by_role("switch", name=name, exact=True).count() == 1
        assert figure.locator(".hl-score").inner_text() == f"{100 * widget.accuracy(blocks_off=off):.1f} % right"


def test_one_unit_or_their_mean(figure, widget):
    figure.get_by_label("gates of").select_option("unit 3")
    T = widget.answer(PLANE).T
    shown = pixels(figure.locator(".hl-blocks canvas").nth(8))[..., :3].astype(int)
    assert abs(shown - expected_colours(T[8][:, 2].reshape(64, 64), "gate", 0, 1)).max() < 8
    mean = widget.answer(living.net(0).x).T[8][:, 2].mean()
    assert figure.get_by_role("switch", name=f"Block 9, mean gate {mean:.2f}", exact=True).count() == 1


def test_the_arms_are_drawn_over_the_plane(figure):
    arms = figure.locator(".hl-cells .hl-arms path")
    assert arms.count() == 4  # two lines, each with a pale border
    dashes = arms.evaluate_all("all => all.map((path) => getComputedStyle(path).strokeDasharray)")
    assert len(set(dashes[1::2])) == 2, "told apart by dash"
    cells, drawn = figure.locator(".hl-cells").bounding_box(), figure.locator(".hl-arms").bounding_box()
    assert {side: round(cells[side]) for side in cells} == {side: round(drawn[side]) for side in drawn}


# By hand


def test_blocks_are_switched_by_mouse_and_by_keyboard(page, figure, widget):
    start = drawing(figure), sentence(figure)
    assert start[1] == python_says(widget)
    block(figure, 4).click()
    assert block(figure, 4).get_attribute("aria-checked") == "false"
    assert sentence(figure) == python_says(widget, blocks_off=[4])
    assert drawing(figure) != start[0]
    page.keyboard.press("Tab")  # on to block 5
    page.keyboard.press("Space")
    assert sentence(figure) == python_says(widget, blocks_off=[4, 5])
    block(figure, 2).press("Enter")
    assert sentence(figure) == python_says(widget, blocks_off=[2, 4, 5])
    assert [block(figure, n).get_attribute("aria-checked") for n in range(1, 7)] == [
        "true",
        "false",
        "true",
        "false",
        "false",
        "true",
    ]
    for number in (2, 4, 5):
        block(figure, number).press("Space")
    assert (drawing(figure), sentence(figure)) == start
    for number in range(1, 11):
        block(figure, number).press("Space")
    assert sentence(figure) == python_says(widget, blocks_off=list(range(1, 11)))
    assert "a coin's toss" in sentence(figure)


def test_every_control_answers_by_keyboard_and_reset_returns(page, figure, widget):
    start = drawing(figure), sentence(figure), stops(figure)
    freeze, probe = figure.get_by_label("freeze gates at their mean"), figure.get_by_label("read by a linear probe")
    freeze.press("Space")
    assert sentence(figure) == python_says(widget, gates_frozen=True)
    assert "a coin's toss" in sentence(figure)
    freeze.press("Space")
    after = figure.get_by_role("slider", name="read after block")
    after.press("ArrowLeft")
    after.press("ArrowLeft")
    assert sentence(figure) == python_says(widget, read_after=8)
    probe.press("Space")
    assert sentence(figure) == python_says(widget, read_after=8, probe=True)
    figure.get_by_role("slider", name="gate bias offset").press("End")
    assert sentence(figure) == python_says(widget, read_after=8, probe=True, gate_bias_offset=0.5)
    figure.get_by_label("training seed").first.select_option("2")
    block(figure, 10).press("Space")
    value = {"read_after": 8, "probe": True, "gate_bias_offset": 0.5, "seed": 2, "blocks_off": [10]}
    assert sentence(figure) == python_says(widget, **value)
    figure.get_by_role("button", name="Reset").press("Enter")
    assert (drawing(figure), sentence(figure), stops(figure)) == start
    assert not freeze.is_checked()
    assert not probe.is_checked()
    move_every_slider(page, figure)
    assert page.console_errors == []
    assert page.outside_requests == []


def test_offset_and_seed_change_the_answer(figure, widget):
    seen = {sentence(figure)}
    for seed in ("1", "2"):
        figure.get_by_label("training seed").first.select_option(seed)
        assert sentence(figure) == python_says(widget, seed=int(seed))
        seen.add(sentence(figure))
        block(figure, 5).click()
        assert sentence(figure) == python_says(widget, seed=int(seed), blocks_off=[5])
        block(figure, 5).click()
    assert len(seen) == 3


def test_a_cell_is_read_by_keyboard(figure):
    figure.locator(".hl-cells canvas").focus()
    read = figure.locator(".hl-below p").inner_text()
    assert re.fullmatch(r"first input [−\d.]+, second input [−\d.]+: [−\d.e]+", read)
    figure.locator(".hl-cells canvas").press("ArrowUp")
    assert figure.locator(".hl-below p").inner_text() != read


def test_the_twin_loses_all_fifty_blocks_and_nothing_happens(page, figure, widget):
    spirals, twin = figure.get_by_role("tab").all()
    assert [tab.get_attribute("aria-selected") for tab in (spirals, twin)] == ["true", "false"]
    spirals.press("ArrowRight")
    assert [tab.get_attribute("aria-selected") for tab in (spirals, twin)] == ["false", "true"]
    assert twin.evaluate("tab => tab === document.activeElement")
    assert figure.get_by_role("tabpanel").count() == 1
    assert not block(figure, 1).is_visible()
    for words in ("Before you touch it", "Computed here and in Python"):
        assert not figure.get_by_text(words).is_visible(), "it is said of the spirals"
    number = figure.get_by_role("slider", name="number")
    whole = float(re.search(r"right on ([\d.]+) %", sentence(figure))[1])
    number.press("End")
    assert sentence(figure) == python_says(widget, tab=1, twin_number=50)
    assert "the first 50 of 50 blocks off" in sentence(figure)
    assert abs(float(re.search(r"right on ([\d.]+) %", sentence(figure))[1]) - whole) < 2
    assert figure.locator(".hl-fifty .hl-off").count() == 50
    number.press("ArrowLeft")
    assert figure.locator(".hl-fifty .hl-off").count() == 49
    figure.get_by_label("switch off").select_option("the block with this number alone")
    assert sentence(figure) == python_says(widget, tab=1, twin_number=49, twin_order="one")
    assert figure.locator(".hl-fifty .hl-off").count() == 1
    figure.get_by_label("training seed").last.select_option("2")
    assert sentence(figure) == python_says(widget, tab=1, twin_number=49, twin_order="one", seed=2)
    figure.get_by_role("button", name="Reset").click()
    assert sentence(figure) == python_says(widget, tab=1)
    twin.press("ArrowRight")
    assert block(figure, 1).is_visible()
    assert page.console_errors == []


def test_the_sentence_is_announced_once_it_rests(page, figure):
    heard = figure.locator("p[role=status]")
    page.wait_for_timeout(500)
    assert heard.text_content() == ""
    block(figure, 4).press("Space")
    block(figure, 6).press("Space")
    page.wait_for_function("document.querySelector('p[role=status]').textContent")
    page.wait_for_timeout(500)
    assert heard.text_content() == sentence(figure)


def test_it_asks_first_and_says_what_it_does_not_show(figure):
    texts = figure.locator("p").all_inner_texts()
    assert texts[0].startswith("Before you touch it: how many blocks can you switch off")
    assert any("What it does not show: what a network would learn that was trained without" in text for text in texts)


# Everywhere


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("form", ["", "-small"])
def test_readable_on_a_phone(new_page, made, theme, form):
    page = new_page(viewport=PHONE)
    [figure] = open_figures(page, made[theme + form])
    assert_readable(figure)
    assert_fits_a_phone(page, figure)
    sizes = figure.get_by_role("switch").evaluate_all("all => all.map((b) => [b.clientWidth, b.clientHeight])")
    assert np.min(sizes) >= 44, "large enough for a finger"
    if not form:
        figure.get_by_role("tab").last.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(page, made, theme):
    from axe_playwright_python.sync_playwright import Axe

    [figure] = open_figures(page, made[theme])
    block(figure, 3).click()
    for tab in (0, 1):
        figure.get_by_role("tab").nth(tab).click()
        response = Axe().run(page).response
        serious = [(v["id"], v["nodes"][0]["html"]) for v in response["violations"] if v["impact"] != "minor"]
        assert serious == []
        assert {"label", "color-contrast", "aria-required-children"} <= {rule["id"] for rule in response["passes"]}


def test_without_scripts_the_picture_stays(new_page, made, widget):
    page = new_page(java_script_enabled=False)
    page.goto(made["light"])
    figure = page.locator("figure.hl-explore")
    assert_picture(figure)
    assert figure.locator("img").get_attribute("alt") == python_says(widget)


def test_the_small_form_lives_too(page, made):
    [figure] = open_figures(page, made["light-small"])
    block(figure, 9).press("Space")
    small = make(nets=[living.net()], twin=None, small=True)
    small.value = {"blocks_off": [9]}
    assert sentence(figure) == small._sentence()
    figure.get_by_role("button", name="Reset").click()
    move_every_slider(page, figure)
    assert page.console_errors == []
    assert page.outside_requests == []


def test_print_leaves_the_figure_and_its_words(page, made):
    [figure] = open_figures(page, made["dark"])
    page.emulate_media(media="print")
    assert not figure.get_by_role("slider").first.is_visible()
    assert not figure.get_by_label("freeze gates at their mean").is_visible()
    assert figure.locator(".hl-cells canvas").is_visible()
    assert figure.locator(".hl-says").is_visible()


# In a kernel, which is told what the reader does, and may do it

KERNEL = """
async ({ source, state }) => {
  const { default: widget } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const listeners = new Set();
  window.saved = [];
  window.model = {
    get: (name) => state[name], save_changes() { saved.push(state.value); },
    set(name, value) { state[name] = value; listeners.forEach((heed) => heed()); },
    on: (event, heed) => event === "change:value" && listeners.add(heed), off: (event, heed) => listeners.delete(heed),
  };
  window.listening = () => listeners.size;
  window.stop = widget.render({ model, el: document.querySelector("main") });
}
"""


def test_value_is_in_sync_with_a_kernel(page, made, widget):
    page.goto(made["light"])
    page.evaluate(KERNEL, {"source": LivingNet._esm, "state": widget._state()})
    figure = page.locator("figure")
    block(figure, 6).press("Space")
    figure.get_by_role("slider", name="gate bias offset").press("Home")
    figure.get_by_label("read by a linear probe").press("Space")
    said = page.evaluate("saved.at(-1)")
    assert said == widget.start | {"blocks_off": [6], "gate_bias_offset": -0.5, "probe": True}
    widget.value = said  # what the page saves, Python takes
    widget.value = {"blocks_off": [1, 10], "probe": False}
    page.evaluate("value => model.set('value', value)", widget.value)  # and what Python sets, the page follows
    assert sentence(figure) == widget._sentence()
    assert block(figure, 10).get_attribute("aria-checked") == "false"
    widget.value = widget.start
    assert page.evaluate("listening()") == 1
    assert page.evaluate("stop(), listening()") == 0
