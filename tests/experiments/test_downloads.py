"""Downloads from a server on loopback that may misbehave."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from twinviews_experiments.datasets.downloads import Download, Files, UnobtainableError, fetch

CONTENT = bytes(range(256)) * 1000


class Handler(BaseHTTPRequestHandler):
    requests = 0
    content = CONTENT

    def do_GET(self):
        type(self).requests += 1
        if self.path == "/gone":
            self.send_error(404)
            return
        self.send_response(200)
        if self.path != "/unsized":
            self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content[: 1000 if self.path == "/short" else None])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    handler = type("Fresh", (Handler,), {})
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}", handler
    http.shutdown()
    thread.join()
    http.server_close()


RIGHT = hashlib.sha256(CONTENT).hexdigest()


@pytest.mark.parametrize("path", ["whole", "unsized"])
@pytest.mark.parametrize("sha256", [RIGHT, None])
def test_a_file_comes_once_and_then_from_the_cache(server, tmp_path, path, sha256):
    url, handler = server
    download = Download(f"{url}/{path}", "file.bin", sha256)
    found = fetch(download, tmp_path)
    assert found.read_bytes() == CONTENT
    assert fetch(download, tmp_path) == found
    assert handler.requests == 1


def test_a_damaged_file_in_the_cache_is_fetched_again(server, tmp_path):
    url, handler = server
    download = Download(f"{url}/whole", "file.bin")
    fetch(download, tmp_path).write_bytes(b"damaged")
    assert fetch(download, tmp_path).read_bytes() == CONTENT
    assert handler.requests == 2


def test_the_first_download_fixes_the_checksum(server, tmp_path):
    url, handler = server
    download = Download(f"{url}/whole", "file.bin")
    fetch(download, tmp_path).unlink()
    handler.content = b"x" * len(CONTENT)
    with pytest.raises(UnobtainableError, match="not the file it was"):
        fetch(download, tmp_path)
    assert not (tmp_path / "file.bin").exists()


@pytest.mark.parametrize(
    ("path", "sha256", "message"),
    [
        ("short", None, "1,000 of 256,000 bytes|Connection|retrieval incomplete"),
        ("gone", None, "404"),
        ("whole", "0" * 64, "not the file it was"),
    ],
)
def test_what_fails_leaves_nothing_behind_and_says_what_to_do(server, tmp_path, path, sha256, message):
    url, _ = server
    with pytest.raises(UnobtainableError, match=message) as caught:
        fetch(Download(f"{url}/{path}", "file.bin", sha256), tmp_path)
    assert "file.bin" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_no_server_at_all(tmp_path):
    with pytest.raises(UnobtainableError, match="could not be fetched"):
        fetch(Download("http://127.0.0.1:9/file", "file.bin"), tmp_path)


def test_a_file_in_the_folder_comes_before_the_net(server, tmp_path):
    url, handler = server
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "file.bin").write_bytes(CONTENT)
    files = Files(folder, tmp_path / "cache")
    assert files.get(Download(f"{url}/whole", "file.bin", RIGHT)) == folder / "file.bin"
    assert handler.requests == 0
    with pytest.raises(ValueError, match="SHA-256"):
        files.get(Download(f"{url}/whole", "file.bin", "0" * 64))


def test_offline_names_the_address(tmp_path):
    files = Files(None, tmp_path / "cache", online=False)
    with pytest.raises(UnobtainableError, match=r"Get http://somewhere/file .* as file.bin"):
        files.get(Download("http://somewhere/file", "file.bin"))


def test_a_file_without_its_note_is_kept_and_gets_one(server, tmp_path):
    """As after a stop between the file and its note: the file is whole, for it was renamed."""
    url, handler = server
    download = Download(f"{url}/whole", "file.bin")
    fetch(download, tmp_path)
    (tmp_path / "file.bin.sha256").unlink()
    fetch(download, tmp_path)
    assert handler.requests == 1
    assert RIGHT in (tmp_path / "file.bin.sha256").read_text()
