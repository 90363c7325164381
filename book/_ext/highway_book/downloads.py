"""The notebooks that pages offer for download: copies of the book's files, made fit to be read and run alone.

What only the book understands becomes plain text: terms lose their links, equations keep the page's numbers, citations
go (author and year stand in the sentence). Links lead to the site, and the set-up cell knows it, if its address is
known. For a class, the solutions are left out.
"""

import json
import re
from pathlib import Path
from urllib.parse import urljoin

from highway_book import site, solutions

# Code stands as it is: a fence, or a span between backticks.
CODE = r"^(?P<fence>```+|~~~+).*?^(?P=fence)|(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
ROLE, LABEL, LINK = (
    re.compile(rf"{pattern}|{CODE}", re.MULTILINE | re.DOTALL)
    for pattern in (
        r"(?P<space>\s*)\{(?P<role>[\w:-]+)\}`(?P<text>[^`]*)`",
        r"^\$\$ \((?P<label>[^()]+)\) *$",
        r"(?<=\]\()(?!\w+:)(?P<name>[^()#\s]+)\.(?:ipynb|md)(?=(?:#[^()\s]*)?\))",
    )
)


def plain(text, number):
    """Return a Markdown cell's text without the book's roles and labels; `number` gives an equation's by its label."""

    def in_words(match):
        role, words = match["role"], match["text"]
        if role == "cite:p":
            return ""
        if role == "term":
            return match["space"] + re.sub(r"\s*<[^>]*>$", "", words)
        if role == "eq" and words in number:
            return f"{match['space']}({number[words]})"
        return match[0]

    def numbered(match):
        return rf"\tag{{{number[match['label']]}}}" + "\n$$" if match["label"] in number else match[0]

    return LABEL.sub(numbered, ROLE.sub(in_words, text))


def lead_to_pages(text, folder):
    """Turn links to the book's other files into links to their pages; `folder` is the address of this file's folder."""

    def to_page(match):
        return urljoin(f"{folder}/", f"{match['name']}.html") if match["name"] else match[0]

    return LINK.sub(to_page, text)


def equation_numbers(env):
    """What the pages print beside each equation, by its label."""
    numbers = {label: str(number) for label, (_, number) in env.get_domain("math").equations.items()}
    for counted in env.toc_fignumbers.values():
        for name, number in counted.get("displaymath", {}).items():
            numbers[name.removeprefix("equation-")] = ".".join(map(str, number))
    return numbers


def rewrite(app, error):
    """Make each copy anew from the book's file, whatever an earlier build has written."""
    if error or app.builder.name != "html":
        return
    address, number = site.find_address(app.srcdir), equation_numbers(app.env)
    files = [Path(app.env.doc2path(document, base=False)) for document in app.env.found_docs]
    for file in (file for file in files if file.suffix == ".ipynb"):
        notebook = json.loads(Path(app.srcdir, file).read_text(encoding="utf8"))
        if not app.config.solutions:
            solutions.take_out(notebook)
        site.stamp(notebook, address)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                text = plain("".join(cell["source"]), number)
                if address:
                    text = lead_to_pages(text, f"{address}/{file.parent.as_posix()}".removesuffix("/."))
                cell["source"] = text.splitlines(keepends=True)
        Path(app.outdir, "_sources", file).write_text(
            json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf8"
        )


def setup(app):
    app.connect("build-finished", rewrite)
