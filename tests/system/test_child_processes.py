import subprocess
import sys

import pytest

PARENT = """
import multiprocessing
from side_by_side_child import busy

if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=busy)
    child.start()
    child.join()
"""
CHILD = """
import numpy as np
from twinviews._system.child_processes import end_with_parent

def busy():
    end_with_parent()
    A = np.eye(50)
    print("busy", flush=True)
    while True:
        A = A @ A
"""


@pytest.mark.parametrize("how", ["kill", "terminate"])
def test_a_worker_in_the_middle_of_its_work_ends_with_its_parent(how, tmp_path):
    (tmp_path / "side_by_side_child.py").write_text(CHILD)
    (tmp_path / "parent.py").write_text(PARENT)
    command = [sys.executable, str(tmp_path / "parent.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout.readline() == b"busy\n"
        getattr(parent, how)()
        # The worker has the same standard output, which is at its end when both are gone.
        assert parent.communicate(timeout=30) == (b"", None)
