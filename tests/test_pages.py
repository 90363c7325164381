"""Every built page in a real browser, opened as a file with no network: quiet, readable, usable."""

import os

import pytest
from conftest import ROOT

CONTENT = "article.bd-article"
PICTURE = ROOT / "book" / "_extra" / "hero.png"


def open_page(page, url):
    page.goto(url)
    page.wait_for_load_state("load")
    # wait until MathJax (where the page has maths) has set the page
    page.wait_for_function("() => !window.MathJax?.startup?.promise || window.MathJax.startup.promise.then(() => true)")


def test_no_console_error_and_no_request_leaves(page, address, page_name):
    open_page(page, address(page_name))
    assert page.console_errors == []
    assert page.outside_requests == []


def test_maths_is_set_from_the_books_own_folder(page, address, page_name):
    open_page(page, address(page_name))
    formulas = page.locator(f"{CONTENT} .math").count()
    assert page.locator(f"{CONTENT} mjx-container").count() >= formulas
    assert page.locator("mjx-merror").count() == 0


def test_fits_a_phone(new_page, address, page_name):
    page = new_page(viewport={"width": 390, "height": 844})
    open_page(page, address(page_name))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(new_page, address, page_name, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = new_page(color_scheme=scheme)
    open_page(page, address(page_name))
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    findings = [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
    assert findings == []


def test_pictures_and_words_remain_without_scripts(new_page, address, page_name):
    page = new_page(java_script_enabled=False)
    page.goto(address(page_name))
    assert page.locator(f"{CONTENT} h1").count() == 1
    for image in page.locator(f"{CONTENT} img").all():
        assert image.evaluate("i => i.complete && i.naturalWidth > 0"), image.get_attribute("src")[:80]
        assert image.is_visible() or image.locator("xpath=ancestor::details").count(), image.get_attribute("alt")


def test_the_readmes_picture_says_what_the_book_shows(new_page, address):
    """`make picture` takes it anew; the README repeats in words what the slider says where it stands at first."""
    page = new_page(device_scale_factor=1.5)
    open_page(page, address("intro"))
    slider = page.locator(f"{CONTENT} .hl-controls").first.locator("xpath=..")
    if "HIGHWAY_LESSONS_PICTURE" in os.environ:
        PICTURE.write_bytes(slider.screenshot())
    assert 10_000 < PICTURE.stat().st_size < 150_000
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf8").split())
    assert f'src="{PICTURE.relative_to(ROOT).as_posix()}"' in readme
    assert slider.locator(".hl-says").inner_text() in readme
