"""Somebody who labels rows over HTTP, as the page does, whatever happens to the server."""

import http.client
import json
import re
import threading
import time
import urllib.error
import urllib.request
import uuid


class Labeler(threading.Thread):
    """Labels rows until told to stop, and remembers what was acknowledged.

    Each entry has a key of its own and is sent again, with the same key, until there is an answer.
    ``address`` tells where the server is just now; None if it has not said so yet.
    """

    def __init__(self, address):
        super().__init__(daemon=True)
        self.address = address
        self.acknowledged = {}  # key -> row
        self.ended = threading.Event()
        self.failure = None

    def run(self):
        try:
            self._label()
        except Exception as failure:
            self.failure = failure

    def _label(self):
        card = None
        while not self.ended.is_set():
            if card is None:
                answer = self._ask("/api/next?target=y")
                card = answer and answer["card"]
                continue
            key = str(uuid.uuid4())
            entry = {"key": key, "target": "y", "row": card["row"], "answer": "label",
                     "value": f"{card['row']}.5", "origin": card["origin"],
                     "expects": card["event"]}  # fmt: skip
            answer = self._ask("/api/record", entry)
            self.acknowledged[key] = card["row"]
            card = answer["card"]

    def _ask(self, path, body=None):
        """The same until there is an answer; an entry under way is not given up."""
        while not self.ended.is_set() or body is not None:
            answer = self._call(path, body)
            if answer is not None:
                return answer
            time.sleep(0.01)
        return None

    def _call(self, path, body):
        """None if there is no server just now."""
        address = self.address()
        if address is None:
            return None
        where, _, token = address.partition("#")
        request = urllib.request.Request(
            where.rstrip("/") + path,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.code} {error.read().decode()}") from error
        except (OSError, ValueError, http.client.HTTPException):  # no answer, or one cut short
            return None


def address_in(said):
    found = re.search(r"http://\S+", said)
    return found.group(0) if found else None
