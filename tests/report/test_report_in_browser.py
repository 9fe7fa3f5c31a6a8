"""The report in Chromium: nothing runs, nothing is fetched, and everyone can read it."""

import re
from itertools import pairwise

import pytest
from axe_playwright_python.sync_playwright import Axe

from report_tables import (
    HOSTILE,
    PlainEncoder,
    classes_table,
    classifier,
    hostile_table,
    numbers_table,
    regressor,
)
from twinviews._system.visible_text import visible
from twinviews.report import gather, write_report

PHONE, DESK = 390, 1280
LEAST_CONTRAST = 4.5  # WCAG 2.2, level AA, for text

# Of every element with text of its own: colours of text and of what is behind it, and size.
TEXTS = """() => {
  const behind = element => {
    for (let one = element; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (!colour.endsWith(', 0)')) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const own = element => [...element.childNodes].some(
    node => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
  return [...document.body.querySelectorAll('*')].filter(own).map(element => {
    const style = getComputedStyle(element);
    const colour = element.namespaceURI.endsWith('svg') ? style.fill : style.color;
    const text = element.textContent.trim().slice(0, 40);
    return [text, colour, behind(element), parseFloat(style.fontSize)];
  });
}"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Addresses of the pages by name."""
    folder = tmp_path_factory.mktemp("reports")
    found = {
        "numbers": gather(numbers_table(), "y", "regression", PlainEncoder(), regressor()),
        "classes": gather(classes_table(), "y", "classification", PlainEncoder(), classifier()),
        "hostile": gather(hostile_table(), HOSTILE[0], "classification", PlainEncoder(), classifier()),
    }
    return {
        name: write_report(folder / f"{name}.html", evidence).as_uri()
        for name, evidence in found.items()
    }


@pytest.fixture
def visit(browser, reports):
    """Opens a report; fails at the end if it logged or fetched anything."""
    opened, noise = [], []

    def open_page(name, width=DESK, **options):
        page = browser.new_page(viewport={"width": width, "height": 900}, **options)
        opened.append(page)
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("dialog", lambda dialog: noise.append(dialog.message))
        page.on("request", lambda request: noise.append(request.url))
        page.goto(reports[name])
        assert noise == [reports[name]], "the page itself is all that is asked for"
        return page

    yield open_page
    assert len(noise) == len(opened), noise
    for page in opened:
        page.close()


NAMES = ["numbers", "classes", "hostile"]


def open_all_details(page):
    page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")


def test_hostile_words_run_nothing_and_are_read_as_they_are(visit):
    page = visit("hostile")
    open_all_details(page)
    assert page.evaluate("window.hit") is None
    assert page.evaluate("document.scripts.length") == 0
    assert page.locator("img, iframe, object, embed, form, [onload], [onerror], [style]").count() == 0
    text = page.locator("body").inner_text()
    for word in HOSTILE:
        assert visible(word) in text
    assert page.locator("h1").inner_text() == f"Predicting {HOSTILE[0]}"


def test_a_script_would_be_refused_even_if_one_got_in(browser, reports, tmp_path):
    html = browser.new_page()
    html.goto(reports["numbers"])
    source = html.content().replace("</main>", "<script>window.hit = 1</script></main>")
    (tmp_path / "injected.html").write_text(source, encoding="utf-8")
    html.goto((tmp_path / "injected.html").as_uri())
    assert html.evaluate("document.scripts.length") == 1
    assert html.evaluate("window.hit") is None
    html.close()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_the_page_never_scrolls_sideways(visit, name, width):
    page = visit(name, width)
    for opened in (False, True):
        if opened:
            open_all_details(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["numbers", "classes"])
def test_text_is_large_enough_and_stands_out(visit, name, scheme):
    page = visit(name, PHONE, color_scheme=scheme)
    open_all_details(page)
    texts = page.evaluate(TEXTS)
    assert len(texts) > 200
    for words, colour, behind, size in texts:
        assert size >= 14, words
        assert contrast(rgb(colour), rgb(behind)) >= LEAST_CONTRAST, (words, colour, behind)


def rgb(colour):
    return [int(part) for part in re.findall(r"\d+", colour)[:3]]


def contrast(one, other):
    """Of relative luminances, as WCAG defines it."""

    def luminance(channels):
        shares = [channel / 255 for channel in channels]
        linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_the_published_one():
    assert contrast([255, 255, 255], [0, 0, 0]) == pytest.approx(21)
    assert contrast([119, 119, 119], [255, 255, 255]) == pytest.approx(4.48, abs=0.01)


def test_dark_mode_turns_the_colours_around_and_paper_stays_light(visit):
    def background(page):
        return sum(rgb(page.evaluate("getComputedStyle(document.documentElement).backgroundColor")))

    page = visit("numbers", color_scheme="light")
    light = background(page)
    page.emulate_media(color_scheme="dark")
    assert background(page) < 150 < 600 < light
    page.emulate_media(color_scheme="dark", media="print")
    assert background(page) == 3 * 255


@pytest.mark.parametrize("name", NAMES)
def test_headings_are_in_order_and_links_lead_somewhere(visit, name):
    page = visit(name)
    levels = page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map(one => +one.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    targets = page.eval_on_selector_all("a", "all => all.map(one => one.getAttribute('href'))")
    assert all(page.locator(target).count() == 1 for target in targets)
    ids = page.eval_on_selector_all("[id]", "all => all.map(one => one.id)")
    assert len(ids) == len(set(ids))


def test_the_keyboard_reaches_and_opens_everything(visit):
    page = visit("numbers")
    stops = "[...document.querySelectorAll('a, summary')]"
    expected = page.evaluate(f"{stops}.length")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(3 * expected):  # tables that scroll are stops, too
        place = page.evaluate(f"{stops}.indexOf(document.activeElement)")
        if place in reached:
            break
        if place >= 0:
            reached.add(place)
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline == "solid", "focus can be seen"
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            page.keyboard.press("Enter")
        page.keyboard.press("Tab")
    assert len(reached) == expected
    details = page.locator("details").count()
    assert page.locator("details[open]").count() == details > 5


@pytest.mark.parametrize(
    ("name", "scheme"), [("numbers", "light"), ("classes", "dark"), ("hostile", "light")]
)
def test_axe_finds_nothing_wrong(visit, name, scheme):
    page = visit(name, PHONE, color_scheme=scheme)
    open_all_details(page)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_figures_are_pictures_with_words(visit):
    page = visit("classes")
    pictures = page.locator("[role=img]")
    assert pictures.count() == page.locator("figure").count()
    for label in pictures.evaluate_all("all => all.map(one => one.getAttribute('aria-label'))"):
        assert len(label) > 40
        assert label.endswith(".")


def test_paper_holds_every_section_and_no_folded_tables(visit):
    page = visit("numbers", 700)
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    assert page.locator("details").first.is_hidden()
    assert all(one.is_visible() for one in page.locator("h2").all())
    assert page.pdf(format="A4").startswith(b"%PDF")
