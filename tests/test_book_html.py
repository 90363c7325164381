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
            assert re.match(r"https://[a-z0-9.-]+\.[a-z]+(/|$)|mailto:", address), tag["href"]
            continue
        target = (page_file.parent / unquote(address)).resolve() if address else page_file
        assert target.is_file(), tag["href"]
        if anchor and target.suffix == ".html":
            assert soup(target).find(id=unquote(anchor)), tag["href"]


NOISE = re.compile(
    r"""np\.(?:float|int|uint|bool|str)\w*\(|np\.(?:True|False)_  # how NumPy writes its scalars
    |object\ at\ 0x|<Figure\ size|Traceback\ \(most\ recent|[a-z]Warning:|It/s]|batch/s]  # what nobody wants to read
    |(?<![\w.])[-−]0(?:\.0+)?(?![\w.,])  # a rounded number that is 0 has no sign
    |\?\?\?|\bTODO\b""",
    flags=re.VERBOSE,
)
RAW = re.compile(
    r"""\$  # in the text of a page no dollar is meant: it is maths that was not read as maths
    |\\(?:begin|end|frac|sigma|tau|partial|mathrm|text|left|right)\b  # TeX outside a formula
    |\{(?:term|eq|ref|numref|doc|cite:[pt]|py:\w+)\}|:::  # MyST that was not read as MyST
    |\]\([^)\s]+\)""",  # a link that was not read as a link
    flags=re.VERBOSE,
)
CODE = ("script", "style", "pre", "code", "svg", "math", "mjx-container")


def faults(page):
    """What a page must not show: pictures without words, errors, raw maths, how Python writes its objects."""
    found = []
    for image in page.select("article img"):
        alt, figure = image.get("alt", ""), image.find_parent("figure")
        caption = figure and figure.find("figcaption")
        if len(alt.split()) < 5 or re.search(r"\.(png|svg|jpe?g)$|Figure size", alt):
            found.append(f"a picture without a text alternative: {alt!r}")
        if not (caption and caption.get_text(strip=True)):
            found.append(f"a picture without a caption: {alt!r}")
    found += [f"an error: {output.text[:80]!r}" for output in page.select(".stderr, .traceback")]
    for output in page.select("article .cell_output, article .output"):
        found += [f"noise: {match[0]!r}" for match in NOISE.finditer(output.get_text())]
    for text in page.select_one("article").find_all(string=True):
        if not text.find_parent(CODE) and not text.find_parent(class_="math"):
            found += [f"raw text: {text[max(0, m.start() - 20) : m.end() + 20]!r}" for m in RAW.finditer(text)]
    return found


def test_nothing_on_a_page_is_raw_noisy_or_without_words(page_file):
    assert faults(soup(page_file)) == []


PICTURE = '<img src="a.png" alt="A line plot of two lines that cross.">'


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ('<figure><img src="a.png" alt="_images/0f3a.png"><figcaption>Two lines.</figcaption></figure>', "alternative"),
        ('<figure><img src="a.png"><figcaption>Two lines.</figcaption></figure>', "alternative"),
        (PICTURE, "caption"),
        (f"<figure>{PICTURE}<figcaption> </figcaption></figure>", "caption"),
        ('<div class="output stderr">oh</div>', "an error"),
        ('<div class="output traceback">ValueError</div>', "an error"),
        ('<div class="cell_output"><pre>[np.float64(0.5)]</pre></div>', "noise"),
        ('<div class="cell_output"><pre>np.True_</pre></div>', "noise"),
        ('<div class="cell_output"><pre>change -0.0</pre></div>', "noise"),
        ('<div class="cell_output"><pre>from −0.00 to 1</pre></div>', "noise"),
        ('<div class="cell_output"><pre>x.py:3: RuntimeWarning: overflow</pre></div>', "noise"),
        ('<div class="cell_output"><p>$T(x)$</p></div>', "raw text"),
        ('<p>$<span class="math">x</span>$</p>', "raw text"),
        (r"<p>\begin{align} x \end{align}</p>", "raw text"),
        ("<p>the {term}<code>gate</code></p>", "raw text"),
        ("<p>see [chapter 3](03.ipynb)</p>", "raw text"),
        ("<p>:::{note}</p>", "raw text"),
    ],
)
def test_a_page_with_a_fault_is_caught(markup, words):
    found = faults(BeautifulSoup(f"<article><h1>A page</h1>{markup}</article>", "html.parser"))
    assert any(words in fault for fault in found), found


def test_a_page_without_a_fault_passes():
    page = f"""<article><h1>A page</h1><p>It costs <code>$5</code>: 10.0, −0.05, x-0.</p>
    <p><span class="math">\\(\\tau\\)</span></p>
    <figure>{PICTURE}<figcaption>Two lines.</figcaption></figure><pre>print("$")</pre>
    <div class="cell_output"><pre>-0.01 to 0.0, gate bias −2</pre></div></article>"""
    assert faults(BeautifulSoup(page, "html.parser")) == []


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
    live_code = soup(page_file).select("[class*=thebe], script[src*=thebe], button[onclick*=Thebe]")
    assert live_code == []  # it would need a kernel and a script from elsewhere: it is not offered


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
