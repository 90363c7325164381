"""The workflow for GitHub, as far as it can be checked here: pinned actions, commands that exist, few permissions."""

import re

import pytest
import yaml
from conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))
TEXT = "\n".join(path.read_text(encoding="utf8") for path in WORKFLOWS)
ON_MAIN = "github.ref == 'refs/heads/main' && (github.event_name == 'push' || github.event_name == 'workflow_dispatch')"


@pytest.fixture(scope="module")
def workflow():
    (path,) = WORKFLOWS
    return yaml.safe_load(path.read_text(encoding="utf8"))


def steps(job):
    return {step.get("uses", step.get("run")).split("@")[0]: step for step in job["steps"]}


def test_actions_are_pinned_to_a_commit_and_their_version_is_told():
    """A tag can be moved to other code; 40 hexadecimal digits cannot."""
    used = re.findall(r"^ *(?:- )?uses: (.*)$", TEXT, flags=re.MULTILINE)
    assert len(used) == TEXT.count("uses:") == 5
    for action in used:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_it_needs_no_secret():
    assert not re.search(r"secrets|GITHUB_TOKEN|github\.token|password", TEXT)


def test_it_may_read_the_sources_and_only_what_publishes_may_publish(workflow):
    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in workflow["jobs"]["test"]
    assert workflow["jobs"]["publish"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert steps(workflow["jobs"]["test"])["actions/checkout"]["with"]["persist-credentials"] is False


def test_it_runs_on_every_change_and_once_a_week(workflow):
    when = workflow[True]  # YAML 1.1 reads the word "on" as true
    assert set(when) == {"push", "pull_request", "schedule", "workflow_dispatch"}
    assert when["push"] == when["pull_request"] == {"branches": ["main"]}
    (schedule,) = when["schedule"]
    assert re.fullmatch(r"[1-5]?\d 1?\d \* \* [0-6]", schedule["cron"])  # one minute of one day of the week


def test_packages_are_kept_except_in_the_cold_run(workflow):
    python = steps(workflow["jobs"]["test"])["actions/setup-python"]["with"]
    assert python["cache"] == "${{ github.event_name != 'schedule' && 'pip' || '' }}"
    found = {path.name for path in ROOT.glob(python["cache-dependency-path"])}
    assert found == {"requirements.txt", "requirements-torch.txt"}


def test_the_cold_run_tries_every_python_that_the_pins_promise(workflow):
    weekly, daily = (
        re.findall(r'"(3\.\d+)"', each)
        for each in re.findall(r"'(\[.*?\])'", workflow["jobs"]["test"]["strategy"]["matrix"]["python"])
    )
    first, last = re.search(
        r"on Python 3\.(\d+) to 3\.(\d+)", (ROOT / "requirements.txt").read_text(encoding="utf8")
    ).groups()
    assert weekly == [f"3.{minor}" for minor in range(int(first), int(last) + 1)]
    assert len(daily) == 1
    assert set(daily) < set(weekly)
    assert f'requires-python = ">={weekly[0]}"' in (ROOT / "pyproject.toml").read_text(encoding="utf8")


def test_it_runs_the_makefiles_commands_with_the_python_it_chose(workflow):
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    commands = [step["run"] for step in workflow["jobs"]["test"]["steps"] if "run" in step]
    made = [command for command in commands if command.startswith("make")]
    assert [command.split()[1] for command in made] == ["book", "check", "test"]
    for command in made:
        assert re.fullmatch(r"make [a-z]+ PYTHON=python", command)
        assert re.search(rf"^{command.split()[1]}:.*##", makefile, flags=re.MULTILINE), command
    (browser,) = set(commands) - set(made)
    assert browser == "google-chrome --version || .venv/bin/python -m playwright install --with-deps chromium"


def test_what_was_tested_is_published_and_only_from_main(workflow):
    test, publish = workflow["jobs"]["test"], workflow["jobs"]["publish"]
    last = test["steps"][-1]
    assert last["uses"].startswith("actions/upload-pages-artifact@")
    assert last["with"] == {"path": "book/_build/html"}
    assert last["if"] == publish["if"] == ON_MAIN
    assert publish["needs"] == "test"
    assert list(steps(publish)) == ["actions/configure-pages", "actions/deploy-pages"]
    assert publish["environment"]["name"] == "github-pages"


def test_no_run_lasts_for_ever_and_none_is_stopped_while_it_publishes(workflow):
    assert all(0 < job["timeout-minutes"] <= 120 for job in workflow["jobs"].values())
    assert workflow["concurrency"]["cancel-in-progress"] == "${{ github.event_name == 'pull_request' }}"


def test_each_step_says_why(workflow):
    lines = TEXT.splitlines()
    steps = [i for i, line in enumerate(lines) if line.startswith("      - ")]
    assert len(steps) == sum(len(job["steps"]) for job in workflow["jobs"].values())
    for i in steps:
        assert re.match(r" {6}# \S+ \S+ \S+", lines[i - 1]), lines[i]


def test_the_readme_tells_how_to_publish():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf8").split())
    assert "Settings ▸ Pages ▸ Source: GitHub Actions" in text
    assert "Settings ▸ Pages ▸ Source: GitHub Actions" in TEXT
    assert ".github/workflows/book.yml" in text
    assert (ROOT / ".github" / "workflows" / "book.yml").is_file()
