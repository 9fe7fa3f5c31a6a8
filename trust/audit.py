"""Known vulnerabilities of the installed packages, where someone can be asked about them.

    python trust/audit.py

The exit code is 1 if there is one. Without a network, or where the service knows none of the packages,
a line says so and the exit code is 0.
"""

import json
import subprocess
import sys

MOST_SECONDS = 60
COMMAND = [
    "pip_audit",
    "--local",
    "--skip-editable",
    "--format=json",
    "--progress-spinner=off",
    "--timeout=5",
]


def answer():
    """What pip-audit found for each package; nothing if it found nobody to ask."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", *COMMAND], capture_output=True, text=True, timeout=MOST_SECONDS
        )
        return json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        return []


def main():
    looked_up = [package for package in answer() if "vulns" in package]
    if not looked_up:
        print("pip-audit left out: no service that knows of vulnerabilities can be reached.")
    found = [(package, one) for package in looked_up for one in package["vulns"]]
    for package, one in found:
        mended = ", ".join(one["fix_versions"]) or "none yet"
        print(f"{package['name']} {package['version']}: {one['id']}; mended in {mended}.")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
