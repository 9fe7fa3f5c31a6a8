"""The bar: on a terminal, after two seconds, unless switched off."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

PROGRAM = """
import sys, time
from twinviews._system import progress_bar as progress
progress._PATIENCE = float(sys.argv[2])
with progress.progress_bar(1000, sys.argv[1] == "on") as bar:
    for _ in range(10):
        time.sleep(0.05)
        bar.update(100)
"""


def on_a_terminal(*arguments):
    """What a person sees: standard error is a terminal of 100 columns."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    command = [sys.executable, "-c", PROGRAM, *arguments]
    process = subprocess.Popen(command, stderr=terminal)
    os.close(terminal)
    seen = b""
    try:
        while part := os.read(screen, 65536):
            seen += part
    except OSError:  # everything was read and the other end is closed
        pass
    os.close(screen)
    assert process.wait(60) == 0
    return seen.decode()


def test_a_bar_tells_rows_speed_and_time_left():
    seen = on_a_terminal("on", "0.1")
    assert "1.00k" in seen
    assert "rows/s" in seen
    assert "<00:00" in seen


def test_what_is_quick_or_switched_off_shows_nothing():
    assert on_a_terminal("on", "60") == ""
    assert on_a_terminal("off", "0") == ""


def test_nothing_is_shown_where_there_is_no_terminal():
    command = [sys.executable, "-c", PROGRAM, "on", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
