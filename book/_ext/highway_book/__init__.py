"""What the book needs at build time that `_config.yml` cannot say.

- kernels learn that they run for the book, so that sliders carry all they need with them;
- chapters run several at once, before their pages are read;
- outputs are kept in a folder named after the package's contents: an edit under `src/` runs every chapter again;
- MathJax comes from an installed package, not from another host;
- screen readers hear a list where there is one, and the name of each button;
- launch buttons appear only where there is a repository to launch from;
- one flag leaves the solutions out, for a class;
- notebooks for download read well and run alone, and find the package's wheel on the site;
- a build that ended with a warning fails again until it is mended.
"""

import os
from pathlib import Path

from highway_book import ahead, downloads, mathjax, repository, site, solutions
from highway_book.fingerprint import fingerprint


def set_paths(app, config):
    """Name the folders that are known only now: what notebooks returned last time, and MathJax."""
    build = Path(app.outdir).parent
    config.nb_execution_cache_path = str(build / ".jupyter_cache" / fingerprint())
    config.html_extra_path = [*config.html_extra_path, mathjax.copy_to(build / "mathjax_files")]


def forget_failed_build(app, error):
    """Make the next build read every page again if this one had a warning: else it would end green, unmended."""
    if error or app._warncount:  # the exit status is not yet known when this is called
        Path(app.doctreedir, "environment.pickle").unlink(missing_ok=True)


def mend_citation_list(app, pagename, templatename, context, doctree):
    """Docutils calls the bibliography a list and its entries no list items: screen readers then announce nothing."""
    context["body"] = context.get("body", "").replace('<div role="list" class="citation-list">', "<div>")


def name_toggles(app, pagename, templatename, context, doctree):
    """Name the buttons that unfold a chapter's subpages in the list of contents: the theme gives them an arrow only."""
    make_contents = context["generate_toctree_html"]

    def named(*arguments, **options):
        contents = make_contents(*arguments, **options)
        for toggle in contents.select("summary"):
            toggle["aria-label"] = f"Pages of {toggle.find_parent('li').find('a').get_text(strip=True)}"
        return contents

    context["generate_toctree_html"] = named


def setup(app):
    os.environ["HIGHWAY_LESSONS_BOOK"] = "1"  # the kernels that run the chapters inherit it
    app.connect("config-inited", set_paths)
    app.connect("html-page-context", mend_citation_list)
    app.connect("html-page-context", name_toggles, priority=900)  # after the theme has put its functions there
    app.connect("build-finished", forget_failed_build)
    ahead.setup(app)
    repository.setup(app)
    solutions.setup(app)
    downloads.setup(app)
    site.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
