"""twinviews inspect"""

from __future__ import annotations

import json
from pathlib import Path

import click

from twinviews._system.visible_text import visible
from twinviews.cli.errors import plain_errors


@click.command(short_help="Show what is in a model file.")
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def inspect(model: Path, as_json: bool) -> None:
    """Show what MODEL predicts, from which columns, how well, and how it was made."""
    with plain_errors("files"):
        from twinviews.cli.actions.describe_model import facts_of_model, lines_of

        facts = facts_of_model(model)
        if as_json:
            lines = json.dumps(facts, indent=2, ensure_ascii=False).split("\n")
        else:
            lines = lines_of(facts)
    # The text comes from whoever made the file, and a terminal obeys some characters.
    click.echo("\n".join(map(visible, lines)))
