"""twinviews label, as a function."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import pyarrow.dataset as ds

from twinviews._system.cache_folder import default_cache
from twinviews._system.whole_files import replace_file
from twinviews.cli.actions.first_look import NumbersOrClasses, check_paths, look_at_target
from twinviews.cli.errors import say
from twinviews.labeling.entries import LabelTarget
from twinviews.labeling.server import serve
from twinviews.labeling.session import LabelingSession
from twinviews.labeling.store_format import label_file, targets_in
from twinviews.reading import ReadingOptions, read

# The most classes of the table that the page offers as buttons from the start.
_MOST_CLASSES = 60


def label_rows(
    table: str,
    targets: Sequence[str],
    *,
    task: NumbersOrClasses | None,
    classes: Sequence[str] | None,
    labels: Path | None,
    port: int | None,
    no_browser: bool,
    rule: str,
    seed: int,
    **reading: Any,
) -> None:
    """Read the table, open its labels, and serve the page until stopped."""
    path = Path(table)
    if not path.exists() and table != "-":
        raise FileNotFoundError(f"There is no file {table!r}. Check the path")
    if table == "-" or not (path.is_file() or path.is_dir()):
        raise ValueError(
            f"{table} can be read once only, and labeling reads rows again. Save it to a file."
        )
    file = label_file(path) if labels is None else labels
    check_paths([table], [] if labels is None else [labels])
    options = ReadingOptions(**reading)
    known = {one.name: one for one in targets_in(file)}
    if not targets and not known:
        raise ValueError(f"{table} has no labels yet. Say what to fill in: --target COLUMN.")
    found = read(table, options)
    say(str(found))
    kinds = {name: kind.partition(":")[0] for name, kind in options.kinds.items()}
    with found.plain_errors():
        wanted = [
            target_of(found.dataset, name, task, classes or ())
            for name in targets
            if task or classes or name not in known
        ]
    session = LabelingSession(found, path.name, file, wanted, kinds=kinds, rule=rule, seed=seed)
    with session:
        for one in session.targets():
            state = session.state(one.name)
            say(f"{one.name}: {state.labeled:,} labels in {state.rows:,} rows; {one.task}")
        if session.problem:
            say(f"Nothing can be learned from this table, so rows come at random: {session.problem}")
        say(f"Labels are kept in {file}; the table itself is never changed.")
        _serve(session, file, port, not no_browser)
    say("Stopped. Every label is kept; the same command continues from here.")


def target_of(
    dataset: ds.Dataset, name: str, task: NumbersOrClasses | None, classes: Sequence[str]
) -> LabelTarget:
    """The target of a name: a column of the table or a new one."""
    name = name if name in dataset.schema.names else name.strip()
    if classes and task == "regression":
        raise ValueError("--classes names classes, and --task regression predicts numbers: drop one.")
    task = "classification" if classes else task
    found = look_at_target(dataset, name, task) if name in dataset.schema.names else None
    if found is None or found.n_labeled == 0:
        if task is None:
            raise ValueError(
                f"{name!r} has no label yet, so it is not known whether it holds numbers or classes. "
                f"Say --task regression, or --classes with the names, separated by commas."
            )
        return LabelTarget(name, task, tuple(classes))
    if found.task == "regression":
        return LabelTarget(name, "regression")
    known = sorted(label for label, _ in found.counts.most_common(_MOST_CLASSES))
    return LabelTarget(name, "classification", tuple(dict.fromkeys([*classes, *known])))


def _serve(session: LabelingSession, labels: Path, port: int | None, browser: bool) -> None:
    """At the address of last time if it is free: a tab that is still open finds the server again."""
    name = hashlib.sha256(str(labels.resolve()).encode()).hexdigest()[:32]
    file = default_cache() / "label" / f"{name}.json"
    last_port, token = _last_address(file)
    if port is None:
        port = last_port if _is_free(last_port) else 0

    def ready(url: str) -> None:
        _remember(file, urlsplit(url))
        say(f"\n  {url}\n\nOpen this address in a browser of this machine. Ctrl-C stops.")
        if browser and not _opens(url):
            say("No browser was found to open it in.")

    serve(session, port=port, token=token if port == last_port else None, ready=ready)


def _last_address(file: Path) -> tuple[int, str | None]:
    """Port and secret; 0 and None where nothing is known."""
    try:
        found = json.loads(file.read_text())
        return int(found["port"]), str(found["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0, None


def _remember(file: Path, url: SplitResult) -> None:
    """Store the address where only this user can read it, so not beside the table."""
    with suppress(OSError):  # then the next start has another address
        file.parent.mkdir(parents=True, exist_ok=True)
        file.parent.chmod(0o700)
        replace_file(file, json.dumps({"port": url.port, "token": url.fragment}).encode())
        file.chmod(0o600)


def _is_free(port: int) -> bool:
    """Whether nobody listens at a port, as another session on the same table may."""
    with suppress(OSError, OverflowError), socket.create_server(("127.0.0.1", port)):
        return True
    return False


def _opens(url: str) -> bool:
    if "DISPLAY" not in os.environ and sys.platform not in ("darwin", "win32"):
        return False  # a text browser would take over the terminal
    return webbrowser.open(url)
