"""The label page in Chromium: labeling by keyboard, nothing lost, and nothing run that should not."""

import csv
import http.client
import json
import re
import subprocess
import sys
from urllib.parse import urlencode, urlsplit

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from sklearn.datasets import load_digits

import label_sessions
from label_sessions import EXPORTED, HOSTILE

NARROW, PHONE, SCREEN = 320, 390, 1280
HEAVIEST = 300_000  # bytes


class Served:
    """A session in a process of its own."""

    def __init__(self, command):
        self.command, self.url = command, None
        self.start()

    def start(self, port=0, token=""):
        command = [sys.executable, *self.command, str(port), token]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.address = urlsplit(self.url)

    def restart(self):
        self.start(self.address.port, self.address.fragment)

    def kill(self):
        self.process.kill()
        self.process.communicate(timeout=20)

    def ask(self, path, **query):
        """As another program would that has the token."""
        connection = http.client.HTTPConnection(self.address.netloc, timeout=20)
        headers = {"Authorization": f"Bearer {self.address.fragment}"}
        connection.request("GET", f"/api/{path}?{urlencode(query)}", headers=headers)
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def state(self):
        return self.ask("state", target="")["state"]

    def card(self, row):
        return self.ask("card", target=self.state()["target"], row=row)["card"]


@pytest.fixture
def serve():
    running = []

    def start(session):
        running.append(Served([label_sessions.__file__, str(session)]))
        return running[-1]

    yield start
    for served in running:
        served.kill()


@pytest.fixture
def visit(browser):
    """Opens a served page; fails at the end if it logged anything or asked another address."""
    contexts, noise = [], []

    def open_page(served, width=SCREEN, context=None, unanswered=None, **options):
        if context is None:
            context = browser.new_context(viewport={"width": width, "height": 900}, **options)
            contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("request", lambda request: noise.append(request.url) if is_outside(request) else None)
        if unanswered:  # from the first request on: Chromium may miss some if it is told later
            page.route(unanswered, lambda route: (route.fetch(), route.abort()))
        page.goto(served.url)
        page.wait_for_selector("form.answer")
        return page

    def is_outside(request):
        return not request.url.startswith(("http://127.0.0.1:", "blob:http://127.0.0.1:"))

    open_page.noise = noise
    yield open_page
    for context in contexts:
        context.close()
    assert noise == []


def row_of(page):
    return int(page.locator("#row").inner_text().removeprefix("Row ").replace(",", "")) - 1


def answer_by(page, key, typed=""):
    """Types, presses a key, and waits for the next row."""
    before = page.locator("#row").inner_text()
    page.keyboard.type(typed)
    page.keyboard.press(key)
    page.wait_for_function("before => document.querySelector('#row').innerText !== before", arg=before)


def type_label(page, text):
    answer_by(page, "Enter", text)


# Labeling


def test_fifty_numbers_by_keyboard(serve, visit):
    served = serve("numbers")
    page = visit(served)
    said = {}
    for i in range(50):
        said[row_of(page)] = i / 4
        type_label(page, f"{i / 4}".replace(".", "," if i % 2 else "."))
    assert served.state()["labeled"] == 50
    assert {row: served.card(row)["value"] for row in said} == said
    assert "50 of 60 rows labeled" in page.locator("header").inner_text()
    shown = page.locator("#curve").inner_text()
    assert "Error to expect with 50 labels: 0.0200 (of some unit)." in shown
    page.wait_for_function("() => performance.getEntriesByName('label-to-next').length === 50")


def test_fifty_classes_by_their_keys(serve, visit):
    served = serve("digits")
    page = visit(served)
    said = {}
    for i in range(50):
        said[row_of(page)] = str(i % 10)
        answer_by(page, str(i % 10))
    assert {row: served.card(row)["value"] for row in said} == said


def test_letters_belong_to_classes_that_are_letters(serve, visit):
    served = serve("letters")
    page = visit(served)
    for key in "sunb":
        answer_by(page, key)
    assert [served.card(row)["value"] for row in range(4)] == ["S", "U", "N", "B"]
    assert "Alt+S" in page.get_by_role("button", name="Skip").inner_text()
    answer_by(page, "Alt+s")
    assert served.state()["skipped"] == 1
    answer_by(page, "Alt+u")
    assert served.state()["skipped"] == 0


def test_of_many_classes_the_likeliest_have_buttons_and_all_can_be_typed(serve, visit):
    served = serve("many")
    page = visit(served)
    assert page.locator("button.class").count() == 0
    page.locator(".answer input").focus()
    for name in ("species 7", "species 7", "species 299"):
        type_label(page, name)  # the focus stays in the field
    page.keyboard.press("Escape")
    assert page.locator("button.class .name").all_inner_texts() == ["species 7", "species 299"]
    answer_by(page, "2")
    assert served.card(3)["value"] == "species 299"


def test_a_new_class_is_asked_about_once(serve, visit):
    served = serve("classes")
    page = visit(served)
    page.locator(".answer input").fill("c")
    page.keyboard.press("Enter")
    expect(page.locator(".note")).to_contain_text("would be a new class")
    answer_by(page, "Enter")
    assert served.card(0)["value"] == "c"
    assert page.locator("button.class .name").all_inner_texts() == ["a", "b", "c"]


def test_a_number_is_read_with_care(serve, visit):
    served = serve("numbers")
    page = visit(served)
    note = page.locator(".note")
    page.keyboard.press("Enter")
    expect(note).to_have_text("Type a number, or skip the row.")
    page.keyboard.press("=")
    expect(note).to_have_text("There is no guess yet to accept.")
    page.keyboard.type("1.2.3")
    page.keyboard.press("Enter")
    expect(note).to_contain_text("1.2.3 is not a number")
    page.locator(".answer input").fill("")
    for text in ("2e0", "−3", "2,5"):
        type_label(page, text)
    page.keyboard.type("4000")
    page.keyboard.press("Enter")
    expect(note).to_contain_text("4000 is far outside the usual range (−3 to 2.5)")
    assert served.state()["labeled"] == 3
    answer_by(page, "Enter")
    assert [served.card(row)["value"] for row in range(4)] == [2, -3, 2.5, 4000]


def test_a_guess_is_taken_on_purpose_only(serve, visit):
    served = serve("numbers")
    page = visit(served)
    for _ in range(3):
        type_label(page, "1.23456")
    expect(page.locator(".guess")).to_have_text(
        "The model would say 1.23, between 0.23 and 2.23 (9 times in 10)."
    )
    page.keyboard.press("Enter")
    page.keyboard.type("3")
    page.keyboard.press("=")
    expect(page.locator(".note")).to_contain_text("Enter saves what is typed")
    page.keyboard.press("Backspace")
    assert served.state()["labeled"] == 3
    answer_by(page, "=")
    assert served.card(3)["value"] == 1.23


def test_skip_not_sure_clear_and_undo(serve, visit):
    served = serve("numbers")
    page = visit(served)
    answer_by(page, "s")
    answer_by(page, "n")
    type_label(page, "7")
    counts = [served.state()[name] for name in ("skipped", "unsure", "labeled")]
    assert counts == [1, 1, 1]
    for row in (2, 1, 0):
        page.keyboard.press("u" if row else "Control+z")
        expect(page.locator("#row")).to_have_text(f"Row {row + 1}")
    assert sum(served.state()[name] for name in ("skipped", "unsure", "labeled")) == 0
    page.keyboard.press("u")
    expect(page.locator("#status")).to_have_text("There is nothing to undo.")


def test_a_held_key_answers_one_row(serve, visit):
    served = serve("digits")
    page = visit(served)
    for _ in range(5):
        page.keyboard.down("3")
    page.keyboard.up("3")
    expect(page.locator("#row")).to_have_text("Row 2")
    page.wait_for_timeout(100)
    assert served.state()["labeled"] == 1


def test_single_keys_can_be_turned_off(serve, visit):
    served = serve("digits")
    page = visit(served)
    page.keyboard.press("?")
    page.get_by_label("Single keys work at once").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    page.keyboard.press("s")
    answer_by(page, "Alt+s")
    state = served.state()
    assert (state["labeled"], state["skipped"]) == (0, 1)


def test_a_batch_in_any_order(serve, visit):
    served = serve("numbers")
    page = visit(served)
    page.keyboard.press("b")
    expect(page.locator(".item")).to_have_count(10)
    page.get_by_label("Rows in a batch").select_option("5")
    expect(page.locator(".item")).to_have_count(5)
    page.locator(".item input").nth(3).focus()
    page.keyboard.type("33")
    page.keyboard.press("Enter")
    expect(page.locator(".item").nth(3)).to_contain_text("Row 4: 33")
    page.keyboard.press("s")  # the next open one has the focus
    expect(page.locator(".item").nth(4)).to_contain_text("Row 5: skipped")
    for row in range(3):
        page.keyboard.type(f"{row + 30}")
        page.keyboard.press("Enter")
        expect(page.locator(".item").nth(row)).to_contain_text(f"Row {row + 1}: {row + 30}")
    assert [served.card(row)["value"] for row in range(5)] == [30, 31, 32, 33, None]
    page.get_by_role("button", name="Change Row 2").click()
    expect(page.locator(".item input")).to_be_focused()
    page.keyboard.type("35")
    page.keyboard.press("Enter")
    expect(page.locator(".item").nth(1)).to_contain_text("Row 2: 35")
    page.keyboard.press("Enter")  # the focus is on the next batch
    expect(page.locator(".item h3").first).to_have_text("Row 6")
    page.keyboard.press("b")
    expect(page.locator("#row")).to_have_text("Row 6")


def test_a_row_that_was_searched_for_is_labeled(serve, visit):
    served = serve("numbers")
    page = visit(served)
    page.keyboard.press("/")
    page.keyboard.type("42")
    expect(page.locator("#found li")).to_have_count(2)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#row")).to_have_text("Row 43")
    type_label(page, "5")
    assert served.card(42)["value"] == 5


def test_when_nothing_is_left(serve, visit):
    page = visit(serve("few"))
    type_label(page, "1")
    type_label(page, "2")
    expect(page.locator("#row")).to_have_text("Every row is answered")
    page.keyboard.press("u")
    expect(page.locator("#row")).to_have_text("Row 2")


def test_an_answer_about_all_rows_is_asked_for(serve, visit):
    served = serve("numbers")
    page = visit(served)
    switch, field = page.locator("#whole-on"), page.locator("#half-width")
    expect(switch).to_have_attribute("aria-pressed", "false")
    expect(field).to_be_hidden()
    switch.click()
    expect(page.locator("#whole")).to_contain_text("142.3")
    expect(page.locator("#whole")).to_contain_text("95% interval 139.8 to 144.7")
    field.fill("-3")
    field.press("Enter")
    expect(page.locator("#whole-note")).to_contain_text("above 0")
    field.fill("2,5")
    field.press("Enter")
    expect(page.locator("#whole-words")).to_have_text("About 40 more labels.")
    assert served.state()["all_rows"]["half_width"] == 2.5
    page.reload()
    expect(switch).to_have_attribute("aria-pressed", "true")
    expect(field).to_have_value("2.5")
    assert Axe().run(page).violations_count == 0
    switch.click()
    expect(page.locator("#whole")).to_be_empty()


def test_files_and_targets(serve, visit, tmp_path):
    served = serve("numbers")
    page = visit(served)
    page.get_by_role("button", name="More").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Labels only, CSV").click()
    assert download.value.suggested_filename == "Größe.labels.csv"
    assert download.value.path().read_bytes() == EXPORTED
    (tmp_path / "labels & more.csv").write_bytes(b"12345")
    page.locator("#import").set_input_files(tmp_path / "labels & more.csv")
    expect(page.locator("#files-status")).to_have_text("5 bytes of labels & more.csv")
    page.get_by_label("Name").fill("shape")
    page.get_by_label("classes", exact=True).check()
    page.get_by_label("Classes to offer").fill("round\n\n flat \nround")
    page.get_by_role("button", name="Add the target").click()
    expect(page.locator("h1")).to_have_text("Labeling shape")
    assert served.state()["targets"][-1] == {
        "name": "shape",
        "task": "classification",
        "classes": ["round", "flat"],
    }
    page.keyboard.press("Escape")
    expect(page.locator("#files-dialog")).to_be_hidden()
    expect(page.get_by_role("button", name="flat")).to_be_visible()  # the row of the new target
    answer_by(page, "2")
    page.reload()
    expect(page.locator("h1")).to_have_text("Labeling shape")
    assert "1 of 60 rows labeled" in page.locator("header").inner_text()
    page.locator("#target").select_option("size")
    expect(page.locator("h1")).to_have_text("Labeling size")


# Two tabs, and a server that goes away


def test_the_token_is_out_of_sight_and_survives_a_reload(serve, visit):
    served = serve("numbers")
    page = visit(served)
    assert "#" not in page.url
    page.reload()
    page.wait_for_selector("form.answer")
    assert visit(served, context=page.context).locator("form.answer").count() == 1
    stranger = page.context.new_page()
    stranger.goto(served.url.split("#")[0])
    expect(stranger.get_by_role("alert")).to_contain_text("This page needs its token")


@pytest.mark.parametrize("own", [True, False])
def test_two_tabs_do_not_overwrite_each_other(serve, visit, own):
    served = serve("numbers")
    one = visit(served)
    two = visit(served, context=one.context)
    type_label(one, "1")
    two.keyboard.type("2")
    two.keyboard.press("Enter")
    dialog = two.get_by_role("dialog")
    expect(dialog).to_contain_text("Row 1 was answered in another tab")
    assert [one.inner_text() for one in dialog.locator("dd").all()] == ["1", "2"]
    visit.noise.clear()  # the browser notes the refusal
    two.get_by_role("button", name="Save mine" if own else "Keep what is stored").click()
    expect(two.locator("#row")).to_have_text("Row 2")
    assert served.card(0)["value"] == (2 if own else 1)


def test_what_another_tab_did_is_told(serve, visit):
    served = serve("numbers")
    one = visit(served)
    two = visit(served, context=one.context)
    type_label(one, "1")
    two.bring_to_front()
    expect(two.locator("#so-far")).to_contain_text(
        "Answered elsewhere in the meantime: 1", timeout=8000
    )
    assert "1 of 60 rows labeled" in two.locator("header").inner_text()
    two.get_by_role("button", name="Next row").click()
    expect(two.locator("#row")).to_have_text("Row 2")


def test_a_label_waits_for_the_server_and_goes_on_by_itself(serve, visit):
    served = serve("numbers")
    page = visit(served)
    served.kill()
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("Your answers are kept here")
    served.restart()
    expect(page.locator("#row")).to_have_text("Row 2")
    expect(page.locator("#banner")).to_be_hidden()
    assert served.card(0)["value"] == 5
    assert served.state()["version"] == 1
    visit.noise.clear()  # the browser notes every try that failed


def test_what_waits_survives_a_reload_and_is_stored_once(serve, visit):
    served = serve("numbers")
    page = visit(served, unanswered="**/api/record")
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("Your answers are kept here")
    page.unroute_all(behavior="wait")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(page.locator("#status")).to_have_text("The answer to row 1 had to wait, and is stored now.")
    expect(page.locator("#row")).to_have_text("Row 2")
    assert served.card(0)["value"] == 5
    assert served.state()["version"] == 1
    visit.noise.clear()


# With the session that people use


def test_fifty_real_rows_a_killed_server_and_a_falling_curve(serve, visit, tmp_path):
    X, y = load_digits(return_X_y=True)
    write_csv(tmp_path / "digit.csv", [f"pixel {i}" for i in range(64)], X[:500].astype(int))
    served = serve(tmp_path / "digit.csv")
    page = visit(served)
    said = {}

    def label_rows(n):
        for _ in range(n):
            row = row_of(page)
            said[row] = str(y[row])
            answer_by(page, said[row])

    label_rows(30)
    expect(page.locator(".guess")).to_contain_text("The model would say", timeout=60_000)
    expect(page.locator("#curve")).to_contain_text(re.compile(r"with (2\d|30) labels"), timeout=60_000)
    curve = served.state()["curve"]
    assert curve[-1]["error"] < curve[0]["error"]
    served.kill()
    row = row_of(page)
    said[row] = str(y[row])
    page.keyboard.press(said[row])
    expect(page.locator("#banner")).to_contain_text("Your answers are kept here")
    served.restart()
    expect(page.locator("#banner")).to_be_hidden(timeout=20_000)
    expect(page.locator("#row")).not_to_have_text(f"Row {row + 1}")
    label_rows(19)
    assert served.state()["version"] == served.state()["labeled"] == len(said) == 50
    assert {row: served.card(row)["value"] for row in said} == said
    visit.noise.clear()  # the browser notes every try that failed


def write_csv(path, names, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])


def test_a_hostile_table_is_read_as_it_is(serve, visit, tmp_path):
    numbers = np.random.default_rng(0).normal(size=40).round(3)
    words = [HOSTILE[place % 4] + "M" * 10_000 * (place % 2) for place in range(40)]
    write_csv(tmp_path / "size.csv", ["x", *HOSTILE[:2]], zip(numbers, numbers, words, strict=True))
    served = serve(tmp_path / "size.csv")
    page = visit(served, PHONE)
    said = {}
    for i in range(4):
        said[row_of(page)] = float(i)
        type_label(page, str(i))
    text = page.locator("#facts").inner_text()
    assert all(name in text for name in HOSTILE[:2])
    assert any(word in text for word in HOSTILE[:4])
    page.keyboard.press("/")
    page.keyboard.type("onerror")
    expect(page.locator("#found li")).to_have_count(10)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
    assert page.evaluate("window.hit") is None
    assert {row: served.card(row)["value"] for row in said} == said


# What is not trusted


def test_hostile_words_run_nothing_and_are_read_as_they_are(serve, visit):
    served = serve("hostile")
    page = visit(served, PHONE)
    for key in "12345":
        answer_by(page, key)
    page.locator(".answer input").fill(HOSTILE[1])
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    text = page.locator("body").inner_text()
    for word in HOSTILE:
        assert word.replace("\n", "\\n").replace("\u202e", "\\u202e") in text
    assert page.locator(".value button").first.inner_text().startswith("Show all 10,")
    page.locator(".value button").first.click()
    assert "M" * 10_000 in page.locator(".value").nth(1).inner_text()
    page.locator("#target").select_option(HOSTILE[1])
    expect(page.locator("h1")).to_have_text(f"Labeling {HOSTILE[1]}")
    page.get_by_role("button", name="Batch").click()
    expect(page.locator(".item")).to_have_count(10)
    page.get_by_role("button", name="Search").click()
    page.locator("#query").fill("3")
    expect(page.locator("#found li")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
    assert page.evaluate("window.hit") is None
    assert page.evaluate("document.scripts.length") == 1
    assert page.locator("img, iframe, object, embed, [onload], [onerror], [style]").count() == 0
    assert [served.card(row)["value"] for row in range(6)] == [*HOSTILE[:5], HOSTILE[1]]


ATTACKS = [
    "document.body.innerHTML = '<img src=x onerror=\"window.hit = 1\">'",
    "document.body.append(Object.assign(document.createElement('script'), {text: 'window.hit = 1'}))",
    "document.body.setAttribute('onclick', 'window.hit = 1'); document.body.click()",
    "setTimeout('window.hit = 1')",
    "import('data:text/javascript,window.hit = 1')",
    "new Worker('data:text/javascript,1')",
    "await fetch('https://evil.example/')",
    "document.body.append(Object.assign(new Image(), {src: 'https://evil.example/'}))",
    "document.body.append(Object.assign(document.createElement('iframe'), {srcdoc: '1'}))",
]


def test_a_script_would_be_refused_even_if_one_got_in(serve, visit):
    page = visit(serve("few"))
    for attack in ATTACKS:
        visit.noise.clear()
        page.evaluate(f"async () => {{ try {{ {attack} }} catch {{}} }}")
        page.wait_for_timeout(30)
        assert page.evaluate("window.hit") is None, attack
        assert visit.noise, attack  # the browser says that it was blocked
    visit.noise.clear()


def test_the_page_is_light_and_asks_nobody_else(serve, visit, browser):
    served = serve("numbers")
    page = browser.new_page()
    sizes = []
    page.on("requestfinished", lambda request: sizes.append(request.sizes()["responseBodySize"]))
    page.goto(served.url)
    page.wait_for_selector("form.answer")
    assert 10_000 < sum(sizes) < HEAVIEST
    page.close()


# For everyone


@pytest.mark.parametrize("name", ["digits", "hostile"])
def test_the_page_never_scrolls_sideways(serve, visit, name):
    page = visit(serve(name))
    for _ in range(4):
        answer_by(page, "1")

    def assert_it_fits(selector):
        for width in (NARROW, PHONE, SCREEN):
            page.set_viewport_size({"width": width, "height": 900})
            ends = "one => [one.scrollWidth, one.getBoundingClientRect().right]"
            assert max(page.locator(selector).evaluate(ends)) <= width

    assert_it_fits("html")
    for opener in ("search", "files", "help"):
        page.locator(f"#{opener}").click()
        assert_it_fits("dialog[open]")
        page.keyboard.press("Escape")
    page.locator("#batch").click()
    page.wait_for_selector(".item")
    assert_it_fits("html")


@pytest.mark.parametrize(
    ("name", "scheme", "width", "opener"),
    [
        ("numbers", "dark", PHONE, "files"),
        ("digits", "light", SCREEN, "help"),
        ("hostile", "light", PHONE, "search"),
    ],
)
def test_axe_finds_nothing_wrong(serve, visit, name, scheme, width, opener):
    page = visit(serve(name), width, color_scheme=scheme, reduced_motion="reduce")
    for _ in range(4):
        answer_by(page, *(("Enter", "1") if name == "numbers" else "1"))
    page.locator("details summary").first.click()

    def check():
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()

    check()
    page.locator("#batch").click()
    page.wait_for_selector(".item")
    check()
    page.locator(f"#{opener}").click()
    check()


def test_the_keyboard_reaches_everything(serve, visit):
    page = visit(serve("digits"))
    for _ in range(4):
        answer_by(page, "1")
    stops = "[...document.querySelectorAll('a, button, input, select, summary')]"
    stops += ".filter(one => one.checkVisibility() && !one.disabled)"
    page.evaluate("document.activeElement.blur()")
    reached = set()
    for _ in range(2 * page.evaluate(f"{stops}.length")):
        page.keyboard.press("Tab")
        place = page.evaluate(f"{stops}.indexOf(document.activeElement)")
        if place >= 0:
            reached.add(place)
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert len(reached) == page.evaluate(f"{stops}.length") > 15


def test_what_is_saved_and_what_is_next_is_said_aloud(serve, visit):
    page = visit(serve("numbers"))
    for _ in range(4):
        type_label(page, "7")
    expect(page.get_by_role("status").first).to_have_text("Saved for row 4: 7. Row 5 is next.")
    picture = page.get_by_role("img").get_attribute("aria-label")
    assert picture.startswith("error against the number of labels. Error to expect with 4 labels: 0.25")
    page.get_by_text("In numbers").click()
    assert page.locator("tbody tr").count() == 3
