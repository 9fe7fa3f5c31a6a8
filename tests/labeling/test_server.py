"""The label server: nobody but its own page gets in, and nothing but what it asks for is understood."""

import asyncio
import dataclasses
import http.client
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

import label_sessions
from label_sessions import EXPORTED, PlainSession
from twinviews.labeling import requests, server
from twinviews.labeling.entries import Entry, LabelTarget

PORT, TOKEN = 4321, "a-token-of-this-test"
HOST = f"127.0.0.1:{PORT}"
ENTRY = {
    "key": "one",
    "target": "size",
    "row": 3,
    "answer": "label",
    "value": " 2,5 ",
    "origin": "suggested",
    "expects": 0,
}


@pytest.fixture
def session():
    return PlainSession()


class Answer:
    def __init__(self, status, headers, content):
        self.status, self.headers, self.content = status, headers, content

    @property
    def json(self):
        return json.loads(self.content)


def ask(session, method, address, headers=(), parts=(b"",)):
    """Speaks to the application as a server does; a header that is given twice is sent twice."""
    path, _, query = address.partition("?")
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    scope = {"type": "http", "http_version": "1.1", "method": method, "path": path, "headers": raw}
    scope |= {
        "query_string": query.encode(),
        "root_path": "",
        "scheme": "http",
        "raw_path": path.encode(),
    }
    sent, left = [], list(parts)

    async def receive():
        if not parts:
            return {"type": "http.disconnect"}
        if not left:
            await asyncio.Event().wait()  # the line stays open
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send(message):
        sent.append(message)

    asyncio.run(server.app(session, TOKEN, PORT)(scope, receive, send))
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    content = b"".join(message.get("body", b"") for message in sent[1:])
    answer = Answer(sent[0]["status"], answered, content)
    answer.unread = len(left)
    return answer


def own(**others):
    """The headers that the page sends."""
    headers = {"Host": HOST, "Authorization": f"Bearer {TOKEN}", "Sec-Fetch-Site": "same-origin"}
    return [(name, value) for name, value in (headers | others).items() if value is not None]


def get(session, path, **query):
    return ask(
        session, "GET", path + "?" + "&".join(f"{k}={quote(str(v))}" for k, v in query.items()), own()
    )


def post(session, path, body, content_type="application/json", **headers):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return ask(session, "POST", path, own(**{"Content-Type": content_type}, **headers), [body])


# Who gets in


@pytest.mark.parametrize("host", [HOST, f"localhost:{PORT}", f"[::1]:{PORT}"])
def test_its_own_names_are_let_in(session, host):
    assert ask(session, "GET", "/api/version", own(Host=host, Origin=f"http://{host}")).status == 200


WITHOUT_HOST = [pair for pair in own() if pair[0] != "Host"]
WITHOUT_TOKEN = [pair for pair in own() if pair[0] != "Authorization"]
HOSTILE_HEADERS = {
    "foreign name": own(Host=f"evil.example:{PORT}"),
    "foreign name, no port": own(Host="evil.example"),
    "no port": own(Host="127.0.0.1"),
    "another port": own(Host="127.0.0.1:80"),
    "ours in front": own(Host=f"{HOST}.evil.example"),
    "ours as a user": own(Host=f"{HOST}@evil.example"),
    "another loopback": own(Host=f"127.0.0.2:{PORT}"),
    "all addresses": own(Host=f"0.0.0.0:{PORT}"),
    "no host": WITHOUT_HOST,
    "two hosts": [*own(), ("Host", "evil.example")],
    "foreign host forwarded": [*WITHOUT_HOST, ("X-Forwarded-Host", HOST), ("Host", "evil.example")],
    "foreign origin": own(Origin="http://evil.example"),
    "no origin": own(Origin="null"),
    "origin of another port": own(Origin="http://127.0.0.1:80"),
    "origin by https": own(Origin=f"https://{HOST}"),
    "two origins": [*own(Origin=f"http://{HOST}"), ("Origin", "http://evil.example")],
    "from another site": own(**{"Sec-Fetch-Site": "cross-site"}),
    "from another port": own(**{"Sec-Fetch-Site": "same-site"}),
    "no token": WITHOUT_TOKEN,
    "wrong token": own(Authorization=f"Bearer {TOKEN[:-1]}"),
    "longer token": own(Authorization=f"Bearer {TOKEN}x"),
    "blank token": own(Authorization="Bearer "),
    "bare token": own(Authorization=TOKEN),
    "other scheme": own(Authorization=f"Basic {TOKEN}"),
    "odd letters": own(Authorization="Bearer \xff\xfe"),
    "two tokens": [*own(), ("Authorization", "Bearer x")],
    "token as a cookie": [*WITHOUT_TOKEN, ("Cookie", f"token={TOKEN}; Authorization=Bearer {TOKEN}")],
}


@pytest.mark.parametrize("name", HOSTILE_HEADERS)
@pytest.mark.parametrize(("method", "path"), [("GET", "/api/version"), ("POST", "/api/record")])
def test_others_get_no_answer_and_reach_nothing(session, name, method, path):
    headers = [*HOSTILE_HEADERS[name], ("Content-Type", "application/json")]
    answer = ask(session, method, path, headers, [json.dumps(ENTRY).encode()])
    assert answer.status in (401, 403)
    assert answer.json.keys() == {"error"}
    assert session.calls == []


def test_a_token_in_the_address_is_none(session):
    answer = ask(
        session, "GET", f"/api/version?token={TOKEN}&Authorization=Bearer%20{TOKEN}", WITHOUT_TOKEN
    )
    assert answer.status == 401


@pytest.mark.parametrize(
    "method", ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "CONNECT", "get"]
)
@pytest.mark.parametrize("path", ["/", "/api/record"])
def test_other_methods_are_refused(session, method, path):
    answer = ask(session, method, path, own())
    assert answer.status == 405
    assert not any(name.startswith("access-control") for name in answer.headers)
    assert session.calls == []


FORMS = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]


@pytest.mark.parametrize("content_type", [*FORMS, "application/jsonp", "", None])
@pytest.mark.parametrize(
    "path", ["/api/record", "/api/undo", "/api/targets", "/api/import?target=size&name=x"]
)
def test_what_a_form_of_another_site_can_send_is_refused(session, path, content_type):
    assert post(session, path, ENTRY, content_type).status == 415
    assert session.calls == []


def test_json_is_not_imported_and_bytes_are_not_read_as_json(session):
    assert post(session, "/api/import?target=size&name=x", ENTRY).status == 415
    assert post(session, "/api/record", ENTRY, "application/octet-stream").status == 415


def test_a_web_socket_is_closed(session):
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "websocket", "path": "/api/version", "headers": [], "query_string": b""}
    asyncio.run(server.app(session, TOKEN, PORT)(scope, None, send))
    assert [message["type"] for message in sent] == ["websocket.close"]


class BrokenDesk(PlainSession):
    def version(self):
        raise RuntimeError("a secret")


def test_every_answer_has_the_headers(session, capsys):
    post(session, "/api/record", ENTRY)
    answers = {
        200: ask(session, "GET", "/", [("Host", HOST)]),
        400: get(session, "/api/card", target="size", row=99),
        401: ask(session, "GET", "/api/version", WITHOUT_TOKEN),
        403: ask(session, "GET", "/", own(Host="evil.example")),
        404: ask(session, "GET", "/nothing", own()),
        405: ask(session, "POST", "/", own()),
        409: post(session, "/api/record", ENTRY | {"key": "two"}),
        413: post(session, "/api/record", b" " * 70_000),
        415: post(session, "/api/record", ENTRY, "text/plain"),
        500: get(BrokenDesk(), "/api/version"),
    }
    for status, answer in answers.items():
        assert answer.status == status
        for name, value in requests.HEADERS.items():
            assert answer.headers[name.lower()] == value
    policy = answers[200].headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "RuntimeError" in capsys.readouterr().err


def test_the_page_needs_no_token_and_is_all_there_is(session):
    files = {path.name for path in (Path(server.__file__).parent / "page").iterdir()}
    for name in files:
        assert (
            ask(session, "GET", "/" if name == "index.html" else f"/{name}", [("Host", HOST)]).status
            == 200
        )
    for path in (
        "/server.py",
        "/../server.py",
        "/page/index.html",
        "//page.js",
        "/api",
        "/%2e%2e/server.py",
    ):
        assert ask(session, "GET", path, own()).status == 404
    assert session.calls == []


# What is understood


def plain(value):
    """As JSON holds it."""
    return json.loads(json.dumps(dataclasses.asdict(value)))


def test_what_the_desk_says_arrives_whole(session):
    assert get(session, "/api/state", target="kind").json == {"state": plain(session.state("kind"))}
    assert get(session, "/api/state", target="").json["state"]["target"] == "size"
    assert get(session, "/api/next", target="size").json == {"card": plain(session.next_card("size"))}
    assert get(session, "/api/next", target="size", besides="0,1,3").json["card"]["row"] == 2
    assert get(session, "/api/card", target="size", row=7).json == {
        "card": plain(session.card("size", 7))
    }
    cards = get(session, "/api/batch", target="size", k=3, besides="1").json["cards"]
    assert [card["row"] for card in cards] == [0, 2, 3]
    assert get(session, "/api/search", target="size", q="17").json["found"] == [
        plain(found) for found in session.search("size", "17")
    ]
    assert get(session, "/api/version").json == {"version": 0}


def test_nothing_is_left_to_ask(session):
    session.n_rows = 0
    assert get(session, "/api/next", target="size").json == {"card": None}


def test_a_label_is_read_stored_and_followed_by_the_next_row(session):
    answer = post(session, "/api/record", ENTRY | {"row": 0}).json
    assert session.events[0].entry == Entry(**ENTRY | {"row": 0, "value": 2.5})
    assert answer["event"] == plain(session.events[0])
    assert answer["card"]["row"] == 1
    assert answer["state"]["labeled"] == answer["state"]["version"] == 1


def test_a_label_sent_twice_is_one(session):
    first, again = (post(session, "/api/record", ENTRY).json for _ in range(2))
    assert first == again
    assert len(session.events) == 1


def test_a_class_stays_text_and_no_card_comes_if_none_is_wanted(session):
    answer = post(session, "/api/record", ENTRY | {"target": "kind", "value": " 2,5 ", "next": False})
    assert session.events[0].entry.value == "2,5"
    assert answer.json["card"] is None


def test_a_conflict_tells_what_is_stored(session):
    post(session, "/api/record", ENTRY)
    answer = post(session, "/api/record", ENTRY | {"key": "two", "value": "9"})
    assert answer.status == 409
    assert answer.json["current"] == plain(session.events[0])
    assert len(session.events) == 1


def test_undo_gives_back_the_row(session):
    post(session, "/api/record", ENTRY)
    answer = post(session, "/api/undo", {"key": "u", "target": "size"}).json
    assert answer["card"] == plain(session.card("size", ENTRY["row"])) | {
        "origin": ENTRY["origin"],  # as it was asked before, so that it counts as it did
        "reason": "its answer was undone",
    }
    assert answer["state"]["labeled"] == 0
    nothing = post(session, "/api/undo", {"target": "size", "key": "v"}).json
    assert nothing["event"] is nothing["card"] is None


def test_a_target_is_added(session):
    body = {"name": "shape", "task": "classification", "classes": ["round", "<b>"]}
    assert post(session, "/api/targets", body).json["state"]["target"] == "shape"
    assert session.targets[-1] == LabelTarget("shape", "classification", ("round", "<b>"))


def test_labels_of_a_file_arrive_unchanged(session):
    content = bytes(range(256)) * 300
    address = f"/api/import?target=size&name={quote('a & b.csv')}"
    answer = post(session, address, content, "application/octet-stream")
    assert session.imported == ("size", "a & b.csv", content)
    assert answer.json["imported"]["words"] == f"{len(content)} bytes of a & b.csv"


def test_an_exported_file_leaves_unchanged_and_nothing_stays_behind(session, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    answer = get(session, "/api/export", form="csv")
    assert answer.content == EXPORTED
    assert answer.headers["content-disposition"] == f"attachment; filename*=utf-8''{quote('Größe.csv')}"
    assert list(tmp_path.iterdir()) == []


def test_what_nobody_foresaw_is_told_in_the_terminal_only(capfd):
    answer = get(BrokenDesk(), "/api/version")
    assert answer.status == 500
    assert b"secret" not in answer.content
    assert "a secret" in capfd.readouterr().err


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
WRONG = {
    "key": ["", " ", "k" * 101, 1, None, ["one"]],
    "target": ["", "nothing", 7, None, True],
    "row": [-1, 1.0, "3", 2**53, 10**40, None, True, [3]],
    "answer": ["labels", "", None, 1, ["label"]],
    "value": ["", "x", "nan", "inf", "1e999", 2.5, True, None, ["2"], "\ud800", "9" * 10_001],
    "origin": ["typed", None, 0],
    "expects": [-1, None, "0", 0.5, False],
    "next": [None, 1, "yes"],
    "more": [1],
}


@given(body=anything)
def test_no_other_body_is_taken_for_an_entry(body):
    session = PlainSession()
    for path in ("/api/record", "/api/undo", "/api/targets"):
        answer = post(session, path, body)
        assert answer.status == 400
        assert "\n" not in answer.json["error"]
    assert session.calls == []


@pytest.mark.parametrize(("field", "value"), [(name, value) for name in WRONG for value in WRONG[name]])
def test_one_wrong_field_is_named_and_nothing_is_stored(session, field, value):
    answer = post(session, "/api/record", ENTRY | {field: value})
    assert answer.status == 400
    assert answer.json["error"].strip().endswith((".", "-2e6."))
    assert field in answer.json["error"] or field in ("value", "target")
    assert "record" not in session.calls


@pytest.mark.parametrize("field", ENTRY)
def test_one_missing_field_is_named(session, field):
    body = {name: value for name, value in ENTRY.items() if name != field}
    assert post(session, "/api/record", body).json == {"error": f"'{field}' is missing."}


@pytest.mark.parametrize("answer", ["skip", "unsure", "clear"])
def test_only_a_label_has_a_value(session, answer):
    assert post(session, "/api/record", ENTRY | {"answer": answer}).status == 400
    assert post(session, "/api/record", ENTRY | {"answer": answer, "value": None}).status == 200


ENTRY_TEXT = json.dumps(ENTRY)
ODD_TEXT = {
    "nothing": b"",
    "no JSON": b"row=3",
    "half": ENTRY_TEXT[:-1].encode(),
    "two": (ENTRY_TEXT * 2).encode(),
    "a name twice": ENTRY_TEXT.replace('"row": 3', '"row": 4, "row": 3').encode(),
    "NaN": ENTRY_TEXT.replace("3", "NaN").encode(),
    "Infinity": ENTRY_TEXT.replace("3", "-Infinity").encode(),
    "digits": ENTRY_TEXT.replace("3", "9" * 5000).encode(),
    "not UTF-8": b'{"key": "\xff"}',
    "UTF-16": ENTRY_TEXT.encode("utf-16"),
    "deep": b"[" * 60_000,
    "deep objects": b'{"a":' * 12_000,
}


@pytest.mark.parametrize("name", ODD_TEXT)
def test_odd_text_is_refused(session, name):
    answer = post(session, "/api/record", ODD_TEXT[name])
    assert answer.status == 400
    assert session.calls == []


@pytest.mark.parametrize(
    "address",
    [
        "/api/next",
        "/api/next?target=",
        "/api/next?target=size&target=kind",
        "/api/next?target=size&besides=1,,2",
        "/api/next?target=size&besides=-1",
        "/api/next?target=size&besides=" + ",".join("1" * 1001),
        "/api/next?target=size&more=1",
        "/api/next?target=nothing",
        "/api/card?target=size",
        "/api/card?target=size&row=1.5",
        "/api/card?target=size&row=%D9%A3",
        "/api/card?target=size&row=99999999999999999999",
        "/api/card?target=size&row=20",
        "/api/batch?target=size&k=0",
        "/api/batch?target=size&k=51",
        "/api/export?form=../etc/passwd",
        "/api/search?target=size&q=" + "x" * 10_001,
        "/api/version?x=1",
    ],
)
def test_odd_addresses_are_refused(session, address):
    answer = ask(session, "GET", address, own())
    assert answer.status == 400
    assert answer.json["error"]


@pytest.mark.parametrize(
    ("path", "kind", "most"),
    [
        ("/api/record", "application/json", 64 * 1024),
        ("/api/import?target=size&name=x", "application/octet-stream", 64 * 1024 * 1024),
    ],
)
def test_no_more_is_read_of_a_body_than_it_may_be_long(session, path, kind, most):
    part = b" " * (most // 8)
    answer = ask(session, "POST", path, own(**{"Content-Type": kind}), [part] * 20)
    assert answer.status == 413
    assert answer.unread == 20 - 9
    assert session.calls == []


def test_a_request_that_ends_early_stores_nothing(session):
    headers = own(**{"Content-Type": "application/json"})
    ask(session, "POST", "/api/record", headers, [])
    assert session.calls == []


# As a process


def start(port=0, token=""):
    command = [sys.executable, label_sessions.__file__, "numbers", str(port), token]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def end(process, how):
    process.send_signal(how)
    out, err = process.communicate(timeout=20)
    return process.returncode, out, err


def test_the_server_starts_ends_and_starts_again_where_it_was():
    process, url = start()
    address = urlsplit(url)
    assert address.hostname == "127.0.0.1"
    assert len(address.fragment) >= 40
    headers = {"Authorization": f"Bearer {address.fragment}"}

    def version():
        connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=10)
        connection.request("GET", "/api/version", headers=headers)
        answer = connection.getresponse()
        assert answer.getheader("server") is None
        return connection, (answer.status, json.loads(answer.read()))

    connection, answer = version()
    assert answer == (200, {"version": 0})
    assert end(process, signal.SIGTERM) == (0, "ended\n", "")  # though a connection is still open
    connection.close()
    process, again = start(address.port, address.fragment)
    assert again == url
    connection, answer_again = version()
    assert answer_again == answer
    connection.close()
    assert end(process, signal.SIGINT) == (0, "ended\n", "")


def test_a_port_that_is_taken_is_an_error():
    process, url = start()
    with pytest.raises(OSError, match="in use"):
        server.serve(PlainSession(), port=urlsplit(url).port, ready=lambda url: None)
    end(process, signal.SIGTERM)
