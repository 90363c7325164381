"""What a chapter needs besides figures: the package's own source on the page, tables, and a progress bar."""

import inspect
import os
import textwrap

BUILDING_BOOK = "HIGHWAY_LESSONS_BOOK"  # the environment variable that the book's build sets


def building_book():
    """Say whether this process runs a notebook for the built book."""
    return bool(os.environ.get(BUILDING_BOOK))


def show_source(thing):
    """Show the source of a function, method or class of this package as it is installed, highlighted.

    Parameters
    ----------
    thing : function, method or class

    Returns
    -------
    IPython.display.Code
    """
    from IPython.display import Code

    return Code(textwrap.dedent(inspect.getsource(thing)), language="python")


def table(header, rows):
    """Show rows of text and numbers as a table, in a notebook and on the page.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences
        As long as the header each.

    Returns
    -------
    IPython.display.Markdown
    """
    from IPython.display import Markdown

    lines = [header, ["---"] * len(header), *rows]
    return Markdown("\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines))


def progress_bar(description="training"):
    """Return a callback for `fit(…, progress=…)` that draws a bar in a notebook; None while the book is built."""
    if building_book():
        return None
    from tqdm.auto import tqdm

    bar = tqdm(desc=description, unit="batch")

    def progress(done, total, history):
        bar.total = total
        if history.get("train_loss"):
            bar.set_postfix(loss=f"{history['train_loss'][-1]:.3f}", refresh=False)
        bar.update(done - bar.n)
        if done == total:
            bar.close()

    return progress
