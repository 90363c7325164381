"""What the figures with sliders share: at home in a notebook and on a page, with a picture where scripts do not run."""

import base64
import html
import io
import itertools
import json
from pathlib import Path

import anywidget
import traitlets
from IPython import get_ipython

from highway_lessons.notebook import building_book

HERE = Path(__file__).parent


def read(*names):
    """Join scripts or styles of this folder into one text."""
    return "".join((HERE / name).read_text(encoding="utf-8") for name in names)


class OffTheGrid(ValueError, traitlets.TraitError):
    """A control cannot stand there. Also a TraitError, so that ipywidgets puts the old value back."""


class Widget(anywidget.AnyWidget):
    """A widget that while the book is built is HTML which needs nothing but itself.

    A kind of figure says what it shows (`_sentence`), draws it for print and for readers without JavaScript (`_figure`,
    and whether it is made of lines), and hands its script what it needs on a page (`_state`); its script exports
    ``page(element, state)``.
    """

    def open(self):
        """Make the widget known to the notebook; while the book is built there is nobody to tell."""
        if not building_book():
            super().open()

    def close(self):
        """Take the widget out of the notebook and let its memory go."""
        if self.comm is not None:
            self.layout.close()
            super().close()

    def _repr_mimebundle_(self, **options):
        says = self._sentence()
        if building_book():
            png = base64.b64encode(self._png()).decode()
            return {"text/html": self._html(png, says), "image/png": png, "text/plain": says}, {}
        bundle, metadata = super()._repr_mimebundle_(**options)
        return bundle | {"text/plain": says}, metadata

    def _html(self, png, says):
        """All that a page needs, in one piece: picture, style, numbers, and the script that draws them."""
        caption, place = self._words()
        texts = {"says": says, "caption": caption, "place": place}
        texts = {name: html.escape(text) for name, text in texts.items()}
        name, state = f"explore-{next(_COUNT)}", script(self._state())
        return _PAGE.format(id=name, png=png, css=self._css, esm=script(self._esm), state=state, **texts)

    def _png(self):
        """The figure where the sliders stand, drawn as the script draws it."""
        from PIL import Image

        full, small = io.BytesIO(), io.BytesIO()
        figure, lines = self._figure()
        figure.savefig(full, format="png")
        image = Image.open(full).convert("RGB")
        if lines:
            image = image.quantize(128, dither=Image.Dither.NONE)  # lines in 128 colours look the same, weigh a third
        image.save(small, "png", optimize=True)
        return small.getvalue()


_COUNT = itertools.count(1)
_PAGE = """<div id="{id}"><figure class="hl-explore"><img src="data:image/png;base64,{png}" alt="{says}">
<noscript><p>The sliders need JavaScript; in the picture they stand {place}.</p></noscript>
<figcaption>{caption}</figcaption></figure></div>
<style>{css}</style>
<script type="module">
const source = new Blob([{esm}], {{ type: "text/javascript" }});
const {{ page }} = await import(URL.createObjectURL(source));
page(document.getElementById("{id}"), {state});
</script>"""


def script(thing):
    """Write JSON that can stand inside a script element."""
    return json.dumps(thing, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


_MADE = {}  # notebook cell → (its last run, the widgets that run made)


def close_earlier(widget):
    """Close what an earlier run of the same cell made: ipywidgets itself keeps every widget for ever."""
    shell = get_ipython()
    request = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell, run = request.get("metadata", {}).get("cellId"), request.get("header", {}).get("msg_id")
    if cell is None:
        return
    last_run, widgets = _MADE.get(cell, (None, []))
    if last_run != run:
        for earlier in widgets:
            earlier.close()
        widgets = []
    _MADE[cell] = run, [*widgets, widget]
