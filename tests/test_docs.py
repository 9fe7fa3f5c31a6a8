"""The site says what is there: promised names, options, files and functions."""

import importlib
import re
from pathlib import Path

import click
import pytest

import twinviews
import twinviews.plots
from twinviews.cli import main

DOCS = Path(__file__).parent.parent / "docs"
GUIDE = sorted((DOCS / "guide").glob("*.md"))


def test_the_api_page_lists_the_promised_names_in_their_order():
    listed = re.findall(r"^   ([A-Za-z]\w+)$", (DOCS / "api.md").read_text(), flags=re.MULTILINE)
    assert listed == [*twinviews.__all__, *twinviews.plots.__all__]


@pytest.mark.parametrize("name", twinviews.plots.__all__)
def test_every_display_is_in_the_readme_and_in_an_example(name):
    root = DOCS.parent
    assert name in (root / "README.md").read_text()
    assert any(name in path.read_text() for path in (root / "examples").glob("plot_*.py"))
    assert ">>> " in getattr(twinviews.plots, name).__doc__


def test_every_option_on_the_page_of_the_command_line_is_one():
    parts = (DOCS / "command_line.md").read_text().split("\n## ")[1:]
    context = click.Context(main)
    assert {part.split(":")[0] for part in parts} <= set(main.list_commands(context))
    for part in parts:
        command = main.get_command(context, part.split(":")[0])
        known = {option for parameter in command.params for option in parameter.opts}
        named = set(re.findall(r"(?<![\w-])--?[a-z]+(?:-[a-z]+)*", part))
        assert named, part
        assert named <= known


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_files_and_functions_that_the_guide_points_to_exist(page):
    text = page.read_text()
    for function, file in re.findall(r"`(\w+)` in `twinviews/([\w/]+)\.py`", text):
        assert hasattr(importlib.import_module(f"twinviews.{file.replace('/', '.')}"), function)
    for file in re.findall(r"`twinviews/([\w/]+\.py)`", text):
        assert (DOCS.parent / "src" / "twinviews" / file).is_file()
