"""JupyterLab with a real kernel, in a real browser."""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from waiting import until

from highway_lessons.notebook import BUILDING_BOOK


class Lab:
    """A JupyterLab server and a browser tab on it."""

    def __init__(self, context, address, token):
        self.context, self.address, self.token = context, address, token
        self.page = None

    def open(self, notebook):
        """Open a notebook alone in a new tab, with a kernel of its own that is ready; the last one's is shut down."""
        if self.page:
            self.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
            self.page.close()
        self.page = self.context.new_page()
        self.page.goto(f"{self.address}/lab/tree/{notebook}?token={self.token}&reset")
        self.page.wait_for_function(
            "name => window.jupyterapp?.shell.currentWidget?.context?.path === name", arg=notebook, timeout=60_000
        )
        self.page.evaluate(
            """async () => {
              await window.jupyterapp.restored;
              const panel = window.jupyterapp.shell.currentWidget;
              await panel.context.ready;
              await panel.sessionContext.ready;
              await panel.sessionContext.session.kernel.info;
            }"""
        )
        return self

    def command(self, name):
        self.page.evaluate("name => window.jupyterapp.commands.execute(name)", name)

    def run_all(self):
        """Run every cell, and wait until the kernel has answered; refuse a cell that failed."""
        self.command("notebook:run-all-cells")
        failed = self.page.locator('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]')
        assert failed.all_inner_texts() == []

    def cell(self, index):
        return self.page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{index}"]')

    def run_cell(self, index):
        """Run one cell as a reader does: click into its code, Shift + Enter."""
        self.cell(index).locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")

    def ask(self, expression):
        """Evaluate an expression in the notebook's own kernel and bring back its JSON."""
        text = self.page.evaluate(
            """async (code) => {
              const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
              const future = kernel.requestExecute({ code, store_history: false });
              let text = "";
              future.onIOPub = ({ content }) => { text += content.text ?? (content.traceback ?? []).join("\\n"); };
              await future.done;
              return text;
            }""",
            f"import json; print(json.dumps({expression}))",
        )
        return json.loads(text)

    def hears(self, expression, expected):
        """Ask until the kernel has heard what the page shows: a second message waits until the first is answered."""
        until(
            lambda: self.ask(expression) == expected,
            tell=lambda: f"{self.ask(expression)} instead of {expected}",
        )


@contextlib.contextmanager
def serve(browser, root, folder, python=sys.executable, entry=None):
    """Start the JupyterLab of an environment on a free port, for the notebooks in `root`, and a tab that opens it.

    `entry` is a script that starts the command it is given. What JupyterLab itself writes goes into `folder`. At the
    end, nothing may have asked another host for anything.
    """
    config = folder / "config"
    (config / "labconfig").mkdir(parents=True)
    quiet = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}  # asks another host for news
    (config / "labconfig" / "page_config.json").write_text(json.dumps(quiet), encoding="utf-8")

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token, address = secrets.token_hex(), f"http://127.0.0.1:{port}"
    environment = {name: value for name, value in os.environ.items() if name != BUILDING_BOOK} | {
        "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
        "JUPYTER_CONFIG_DIR": str(config),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        "IPYTHONDIR": str(folder / "ipython"),
    }
    command = [python, "-m", "jupyterlab", "--no-browser", "--expose-app-in-browser", "--ip=127.0.0.1"]
    command += [f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"]
    command += [f"--ServerApp.root_dir={root}", "--allow-root"]
    command = [*filter(None, [entry]), *command]
    log = folder / "log.txt"
    with log.open("w", encoding="utf8") as out:
        server = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    try:
        wait_for_server(f"{address}/api?token={token}", server, log)
        outside = []
        context.route(lambda url: not url.startswith((address, "data:", "blob:")), lambda r: stop(r, outside))
        yield Lab(context, address, token)
        assert outside == []
    finally:
        context.close()
        server.terminate()
        server.wait(timeout=30)


def stop(route, outside):
    outside.append(route.request.url)
    route.abort()


def wait_for_server(url, server, log):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=2)
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    pytest.fail(f"JupyterLab did not answer within a minute:\n{log.read_text(encoding='utf8')[-2000:]}", pytrace=False)
