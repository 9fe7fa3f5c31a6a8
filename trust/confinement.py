"""A process for what strangers made: little memory, little time, and nothing but the file at hand.

A program that tries numbered pieces calls ``confine`` and has a ``Watch`` over each; ``run`` starts it
and says which piece it was at if it died.
"""

import faulthandler
import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
# Of computing, and by the clock: a piece takes milliseconds, but the machine may be busy.
MOST_SECONDS, MOST_SECONDS_BY_THE_CLOCK = 60, 600
# Audit events of Python that reading a file never needs.
RUNS_CODE = (
    "compile", "ctypes.", "exec", "import", "marshal.", "os.exec", "os.fork", "os.posix_spawn",
    "os.system", "pickle.", "socket.", "subprocess.",
)  # fmt: skip


def confine(most_bytes):
    """From here on this process may take so much more memory, and a crash tells where it was."""
    faulthandler.enable()
    for ring in (signal.SIGALRM, signal.SIGPROF):
        faulthandler.register(ring, chain=True)  # says where it was, and ends the process
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + most_bytes, used + most_bytes))


class Watch:
    """Over one piece after the other: it comes to an end, runs no code, opens its own files only."""

    def __init__(self, note, folder):
        self.note, self.folder = os.open(note, os.O_WRONLY | os.O_CREAT), str(folder)
        self.watching, self.seen = False, []
        sys.addaudithook(self._heard)

    @contextmanager
    def piece(self, number):
        os.pwrite(self.note, number.to_bytes(8, "little"), 0)
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        signal.alarm(MOST_SECONDS_BY_THE_CLOCK)
        self.watching = True
        try:
            yield
        finally:
            self.watching = False
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
        assert not self.seen, self.seen

    def _heard(self, event, arguments):
        if not self.watching:
            return
        elsewhere = event == "open" and not str(arguments[0]).startswith(self.folder)
        if elsewhere or event.startswith(RUNS_CODE):
            self.seen.append((event, repr(arguments)[:200]))


def run(program, folder, *arguments):
    """What a program of this folder prints as JSON; the piece it died at, if it did."""
    note = folder / f"{program}-{os.getpid()}.note"
    note.write_bytes(bytes(8))
    done = subprocess.run(
        [sys.executable, HERE / program, note, *map(str, arguments)], capture_output=True, text=True
    )
    piece = int.from_bytes(note.read_bytes(), "little")
    assert done.returncode == 0, (
        f"{program}, piece {piece}, ended with {done.returncode}:\n{done.stderr}"
    )
    return json.loads(done.stdout)
