"""twinviews label, as a function."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.compute as pc
import pyarrow.dataset as ds

from twinviews._system.cache_folder import default_cache
from twinviews._system.whole_files import replace_file
from twinviews.cli.actions.check_paths import check_paths
from twinviews.cli.actions.fit_model import options_of
from twinviews.cli.actions.target_task import Task, look_at_target
from twinviews.labeling.entries import LabelTarget
from twinviews.labeling.server import serve
from twinviews.labeling.session import LabelingSession
from twinviews.labeling.store_format import label_file, targets_in
from twinviews.reading import read

Say = Callable[[str], None]
# The most classes of the table that the page offers as buttons from the start.
_MOST_CLASSES = 60


def label_rows(
    table: str,
    targets: Sequence[str],
    *,
    task: Task | None,
    classes: Sequence[str],
    labels: Path | None,
    port: int | None,
    browser: bool,
    rule: str,
    seed: int,
    reading: Mapping[str, Any],
    say: Say,
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
    options = options_of(reading)
    known = {one.name: one for one in targets_in(file)}
    if not targets and not known:
        raise ValueError(f"{table} has no labels yet. Say what to fill in: --target COLUMN.")
    found = read(table, options)
    say(str(found))
    kinds = {name: kind.partition(":")[0] for name, kind in options.kinds.items()}
    with found.plain_errors():
        wanted = [
            target_of(found.dataset, name, task, classes)
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
        _serve(session, file, port, browser, say)
    say("Stopped. Every label is kept; the same command continues from here.")


def target_of(dataset: ds.Dataset, name: str, task: Task | None, classes: Sequence[str]) -> LabelTarget:
    """The target of a name: a column of the table or a new one."""
    name = name if name in dataset.schema.names else name.strip()
    if classes and task == "regression":
        raise ValueError("--classes names classes, and --task regression predicts numbers: drop one.")
    task = "classification" if classes else task
    values = _first_values(dataset, name) if name in dataset.schema.names else []
    if not values:
        if task is None:
            raise ValueError(
                f"{name!r} has no label yet, so it is not known whether it holds numbers or classes. "
                f"Say --task regression, or --classes with the names, separated by commas."
            )
        return LabelTarget(name, task, tuple(classes))
    found = look_at_target(dataset, name, task)
    if found.task == "regression":
        return LabelTarget(name, "regression")
    known = dict.fromkeys([*classes, *values])
    return LabelTarget(name, "classification", tuple(known))


def _first_values(dataset: ds.Dataset, name: str) -> list[str]:
    """Distinct values of a column as sorted text, not too many; empty if all cells are blank."""
    known: dict[str, None] = {}
    for batch in dataset.scanner(columns=[name], use_threads=False).to_batches():
        words = pc.cast(pc.unique(batch.column(0).drop_null()), "string").to_pylist()
        known.update(dict.fromkeys(words))
        if len(known) > _MOST_CLASSES:
            break
    return sorted(known)[:_MOST_CLASSES]


class Address(NamedTuple):
    """The last address of the page, at which a tab that is still open finds the server again."""

    port: int
    token: str


def _address_file(labels: Path) -> Path:
    name = hashlib.sha256(str(labels.resolve()).encode()).hexdigest()[:32]
    return default_cache() / "label" / f"{name}.json"


def _last_address(file: Path) -> Address | None:
    try:
        found = json.loads(file.read_text())
        return Address(int(found["port"]), str(found["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _remember(file: Path, address: Address) -> None:
    """Store the address where only this user can read it, so not beside the table."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.parent.chmod(0o700)
        replace_file(file, json.dumps(address._asdict()).encode())
        file.chmod(0o600)
    except OSError:
        return  # then the next start has another address


def _serve(session: LabelingSession, labels: Path, port: int | None, browser: bool, say: Say) -> None:
    file = _address_file(labels)
    last = _last_address(file)

    def ready(url: str) -> None:
        where, _, token = url.partition("#")
        _remember(file, Address(int(where.rstrip("/").rpartition(":")[2]), token))
        say(f"\n  {url}\n\nOpen this address in a browser of this machine. Ctrl-C stops.")
        if browser and not _opens(url):
            say("No browser was found to open it in.")

    if port is None and last is not None and _is_free(last.port):
        serve(session, port=last.port, token=last.token, ready=ready)
        return
    token = last.token if last is not None and last.port == port else None
    serve(session, port=port or 0, token=token, ready=ready)


def _is_free(port: int) -> bool:
    """Whether nobody listens at a port, as another session on the same table may."""
    with suppress(OSError), socket.create_server(("127.0.0.1", port)):
        return True
    return False


def _opens(url: str) -> bool:
    if os.environ.get("DISPLAY") is None and os.name == "posix" and not _is_mac():
        return False  # a text browser would take over the terminal
    return webbrowser.open(url)


def _is_mac() -> bool:
    return os.uname().sysname == "Darwin"
