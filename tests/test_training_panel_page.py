"""The training panel's place on a page without a kernel: recorded trainings, in a browser, network blocked."""

import os

import pytest
from test_sliders_page import (
    HEAD,
    PHONE,
    assert_fits_a_phone,
    assert_picture,
    assert_readable,
    move_every_slider,
    open_figures,
    stops,
)

from highway_lessons import studies
from highway_lessons.notebook import BUILDING_BOOK
from highway_lessons.sliders import training_panel


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A page for each theme: a dict of addresses."""
    os.environ[BUILDING_BOOK] = "1"
    try:
        panel = training_panel(caption="Test accuracy on the digits, epoch by epoch.")
        markup = panel._repr_mimebundle_()[0]["text/html"]
    finally:
        del os.environ[BUILDING_BOOK]
    folder, addresses = tmp_path_factory.mktemp("panel"), {}
    for theme in ("light", "dark"):
        path = folder / f"{theme}.html"
        path.write_text(HEAD.format(theme=theme) + markup, encoding="utf-8")
        addresses[theme] = path.as_uri()
    return addresses


def says(figure):
    return figure.locator(".hl-says").inner_text()


def test_by_keyboard_recorded_trainings_are_found_and_missing_ones_said(page, made):
    [figure] = open_figures(page, made["light"])
    assert stops(figure) == ["highway", "20", "−2", "Adam", "0.001"]
    move_every_slider(page, figure)
    assert figure.locator(".hl-band").evaluate_all("all => all.map(e => e.getAttribute('d').length > 100)") == [
        False, True, False
    ]  # fmt: skip
    figure.get_by_role("slider", name="depth").press("End")
    five = 100 * studies.load("gate_bias").select(
        gate_bias=-2.0, depth=100, optimiser="adam", dtype="float32"
    ).array("test_accuracy")  # fmt: skip
    assert says(figure).endswith(
        f"five seeds {five.mean():.1f} ({five.min():.1f} to {five.max():.1f}) % after 30 epochs."
    )
    figure.get_by_role("slider", name="block").press("Home")
    figure.get_by_role("slider", name="optimiser").press("ArrowRight")
    assert (
        ": not recorded: plain was recorded with Adam only. The nearest setting with a record is plain, 100 blocks, "
        in (says(figure))
    )
    lines = figure.locator(".hl-plot .hl-line").evaluate_all("all => all.map(e => e.getAttribute('d'))")
    assert set(lines) == {""}
    figure.get_by_role("button", name="Reset").click()
    assert stops(figure) == ["highway", "20", "−2", "Adam", "0.001"]
    assert "this place is a panel that trains" in figure.locator("figcaption").inner_text()
    assert figure.get_by_role("button", name="Train").count() == 0, "a button that could do nothing"
    assert page.console_errors == []
    assert page.outside_requests == []


def test_ends_are_marked_and_not_joined(page, made):
    [figure] = open_figures(page, made["light"])
    ends, diverged = (figure.locator(".hl-plot .hl-colour").nth(k) for k in (3, 4))
    assert [ends.locator(".hl-marker").count(), diverged.locator(".hl-marker").count()] == [5, 0]
    for name, key in (("optimiser", "ArrowRight"), ("learning rate", "End")):
        figure.get_by_role("slider", name=name).press(key)
    assert ": all five seeds diverged; counted as guessing." in says(figure)
    assert [ends.locator(".hl-marker").count(), diverged.locator(".hl-marker").count()] == [0, 5]
    for place in (".hl-plot", ".hl-below li"):
        lines = figure.locator(f"{place} .hl-line").evaluate_all("all => all.map(e => e.getAttribute('d'))")
        assert lines[3:] == ["", ""], place
    assert all(lines[:3]), "in the legend the kinds of block have their lines"
    assert figure.locator(".hl-below li .hl-marker").count() == 5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_readable_on_a_phone(new_page, made, theme):
    page = new_page(viewport=PHONE)
    [figure] = open_figures(page, made[theme])
    assert_readable(figure)
    assert_fits_a_phone(page, figure)


def test_without_scripts_there_is_a_picture_and_the_way_to_the_live_panel(new_page, made):
    page = new_page(java_script_enabled=False)
    page.goto(made["light"])
    figure = page.locator("figure.hl-explore")
    assert_picture(figure)
    assert "this place is a panel that trains" in figure.locator("figcaption").inner_text()
