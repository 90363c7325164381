"""The built book's files: nothing from another host, links that lead somewhere, pictures with words, light pages."""

import re
from functools import cache
from urllib.parse import unquote

import pytest
from bs4 import BeautifulSoup
from conftest import HTML

LOADED = {
    "script": "src", "img": "src", "source": "src", "iframe": "src", "video": "src", "audio": "src", "embed": "src",
    "object": "data",
}  # fmt: skip


@cache
def soup(path):
    return BeautifulSoup(path.read_text(encoding="utf8"), "html.parser")


@pytest.fixture
def page_file(book, page_name):
    return book / f"{page_name}.html"


def leaves_the_book(address):
    return re.match(r"(?:[a-z]+:)?//", address) is not None


def test_no_page_loads_anything_from_another_host(page_file):
    page = soup(page_file)
    loaded = [tag[key] for name, key in LOADED.items() for tag in page.find_all(name, **{key: True})]
    loaded += [tag["href"] for tag in page.find_all("link", href=True)]
    assert len(loaded) > 5  # the theme's own files at least: this looks in the right place
    assert [address for address in loaded if leaves_the_book(address)] == []
    styles = " ".join(tag.text for tag in page.find_all("style"))
    assert not re.search(r"url\(\s*[\"']?(https?:)?//|@import", styles)


def test_no_style_sheet_loads_anything_from_another_host(book):
    sheets = list(book.rglob("*.css"))
    assert len(sheets) > 5
    for sheet in sheets:
        text = sheet.read_text(encoding="utf8")
        assert not re.search(r"url\(\s*[\"']?(https?:)?//|@import\s+(url\()?[\"']?(https?:)?//", text), sheet


def test_links_inside_the_book_lead_somewhere(page_file):
    for tag in soup(page_file).select("a[href]"):
        address, _, anchor = tag["href"].partition("#")
        if leaves_the_book(address) or re.match(r"[a-z]+:", address):
            continue
        target = (page_file.parent / unquote(address)).resolve() if address else page_file
        assert target.is_file(), tag["href"]
        if anchor and target.suffix == ".html":
            assert soup(target).find(id=unquote(anchor)), tag["href"]


def test_pictures_have_words_and_outputs_no_noise(page_file):
    page = soup(page_file)
    for image in page.select("article img"):
        alt = image.get("alt", "")
        assert len(alt.split()) >= 5, image["src"][:80]
        assert not re.search(r"\.(png|svg|jpe?g)$|Figure size", alt), alt
    assert page.select(".output.stderr, .output.traceback") == []
    text = page_file.read_text(encoding="utf8")
    for noise in ("np.float64(", "np.int64(", "np.True_", "np.False_", "object at 0x"):
        assert noise not in text, noise
    assert not re.search(r'\$<span class="math', text), "a dollar beside a formula"
    assert not re.search(r"\\begin\{", " ".join(p.text for p in page.select("article p"))), "TeX beside a formula"
    for output in page.select(".cell_output p"):
        assert not re.search(r"\$[^$]+\$", output.text), output.text


def test_headings_never_jump(page_file):
    levels = [int(h.name[1]) for h in soup(page_file).select("article :is(h1, h2, h3, h4, h5, h6)")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip([1, *levels], levels, strict=False))


def test_one_search_box(page_file):
    assert len(soup(page_file).select("form.bd-search")) == 1


def test_no_stock_slider_is_left_that_would_move_and_change_nothing(page_file):
    text = page_file.read_text(encoding="utf8")
    assert "application/vnd.jupyter.widget" not in text


def test_page_is_light(page_file, record_property):
    kilobytes = page_file.stat().st_size / 1000
    images = [page_file.parent / tag["src"] for tag in soup(page_file).select("article img[src]")]
    pictures = sum(path.stat().st_size for path in images if not str(path).count("data:")) / 1000
    record_property(
        "page", f"{page_file.relative_to(HTML).as_posix():<50} {kilobytes:6.0f} kB, pictures {pictures:5.0f} kB"
    )
    assert kilobytes < 1500


def test_maths_that_the_book_carries_is_small_and_licensed(book):
    files = [path for path in (book / "mathjax").rglob("*") if path.is_file()]
    assert 0.5e6 < sum(path.stat().st_size for path in files) < 2.5e6
    assert "Apache License" in (book / "mathjax" / "LICENSE").read_text(encoding="utf8")
