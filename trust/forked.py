"""Work in a child process that can be killed in its midst; forked from a warm one, to be quick."""

import atexit
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

_WARM = [
    "pytest",
    "twinviews.cli",
    "twinviews.cli.actions.label_rows",
    "twinviews.cli.actions.predict_rows",
    "twinviews_experiments.replication.replicate",
]
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(_WARM)
_WHILE = 60  # seconds that anything may take on a busy machine
_WRITES = os.O_WRONLY | os.O_RDWR


class Child:
    """A process with a group of its own that has begun to do ``work(*arguments)``.

    ``folder`` takes its temporary files, its cache and all that it prints.
    """

    def __init__(self, folder, work, *arguments):
        self.folder = folder
        begun, tells = _context.Pipe(duplex=False)
        folder.mkdir(exist_ok=True)
        self.process = _context.Process(target=_child, args=(tells, folder, work, arguments))
        self.process.start()
        tells.close()
        assert begun.poll(_WHILE), "it was to begin"
        begun.close()
        self.start = time.monotonic()

    def wait(self):
        """Its exit code; negative if a signal ended it."""
        self.process.join(_WHILE)
        assert self.process.exitcode is not None, f"it was to end: {self.said()}"
        return self.process.exitcode

    def send(self, number=signal.SIGKILL):
        """Sent to the process alone, so that what it has started must end by itself."""
        os.kill(self.process.pid, number)

    def killed_after(self, seconds, number=signal.SIGKILL):
        """Whether the signal came before its end."""
        self.process.join(seconds)
        if self.process.exitcode is None:
            self.send(number)
        return self.wait() == -number

    def said(self):
        return (self.folder / "said.txt").read_text(errors="replace")

    def leaves_nobody(self):
        """Whether the processes that it has started are gone within a while."""
        until = time.monotonic() + _WHILE
        while time.monotonic() < until:
            try:
                os.killpg(self.process.pid, 0)
            except ProcessLookupError:
                return True
            time.sleep(0.01)
        return False


def _child(tells, folder, work, arguments):
    os.setsid()
    said = os.open(folder / "said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    tempfile.tempdir = str(folder)
    # As from a terminal, though whoever started the tests may have it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tells.send("begun")
    try:
        work(*arguments)
    finally:
        sys.stdout.flush()
        atexit._run_exitfuncs()  # which multiprocessing leaves out


def seconds_of(folder, work, *arguments):
    """Of a run that nobody disturbs."""
    child = Child(folder, work, *arguments)
    assert child.wait() == 0, child.said()
    return time.monotonic() - child.start


def crash_at(step, work, *arguments):
    """Do the work, but end on the spot before the step-th time that a file is touched."""
    left = step

    def count(event, about):
        nonlocal left
        if event == "open":
            _, mode, flags = about
            touches = bool(flags & _WRITES) if mode is None else not mode.startswith("r")
        else:
            touches = event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "sync")
        if touches:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    synced = os.fsync

    def sync(handle):  # which has no event of its own
        sys.audit("sync")
        synced(handle)

    os.fsync = sync
    sys.addaudithook(count)
    work(*arguments)


def no_byte_beyond(most, dies, work, *arguments):
    """Do the work with room for files of so many bytes; what comes after kills, or is an error.

    What it says goes through a pipe, which has no size; a file of it would be under the limit, too.
    """
    words = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    os.dup2(words.stdin.fileno(), 1)
    os.dup2(words.stdin.fileno(), 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL if dies else signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    work(*arguments)
