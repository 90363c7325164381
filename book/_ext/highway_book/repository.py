"""Repository and launch buttons, only where there is a public repository to point at."""

import os
import re
import subprocess

VARIABLE = "HIGHWAY_LESSONS_REPOSITORY"  # set it to a URL to choose one, to nothing to have no buttons
FORGES = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org")


def public_url(remote):
    """Turn a git remote, as https or ssh, into the address of a page on a public forge; "" if it is neither.

    A folder on this computer or a private server is no address that a reader could open.
    """
    host = "|".join(re.escape(forge) for forge in FORGES)
    match = re.fullmatch(
        rf"(?:https?://(?:[^@/]*@)?|ssh://git@|git@)({host})[:/]([\w.-]+)/([\w.-]+?)(?:\.git)?/?", remote.strip()
    )
    return "https://{}/{}/{}".format(*match.groups()) if match else ""


def find_url(folder):
    """Ask the environment, then git's remote `origin`."""
    if VARIABLE in os.environ:
        given = os.environ[VARIABLE]
        if given and not public_url(given):
            raise ValueError(f"{VARIABLE} is {given!r}; expected an address such as https://github.com/OWNER/NAME.")
        return public_url(given)
    command = ["git", "-C", str(folder), "remote", "get-url", "origin"]
    try:
        return public_url(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    except FileNotFoundError:  # no git here
        return ""


def launchers(url):
    """Say, as the theme wants it, where a notebook of this repository can be opened: what each service can read."""
    forge = url.split("/")[2]
    found = {}
    if forge in ("github.com", "gitlab.com"):
        found |= {"binderhub_url": "https://mybinder.org", "notebook_interface": "jupyterlab"}
    if forge == "github.com":
        found |= {"colab_url": "https://colab.research.google.com"}
    return found


def add_buttons(app, config):
    url = find_url(app.srcdir)
    if url:
        config.html_theme_options |= {
            "repository_url": url,
            "repository_branch": "main",
            "path_to_docs": "book",
            "use_repository_button": True,
            "use_issues_button": True,
            "launch_buttons": launchers(url),
        }


def setup(app):
    app.connect("config-inited", add_buttons)
