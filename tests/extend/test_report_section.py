"""A report section from outside the package: shown like the built-in ones, and escaped like them."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from markupsafe import Markup

from report_tables import HOSTILE, PlainEncoder, numbers_table, regressor
from twinviews._system.visible_text import visible
from twinviews.report import (
    SECTIONS,
    Bar,
    BarChart,
    DataTable,
    Note,
    Section,
    bar_axis,
    gather,
    write_report,
)


@pytest.fixture(scope="module")
def evidence():
    return gather(numbers_table(), "y", "regression", PlainEncoder(), regressor())


def largest_errors(evidence):
    """The three hidden rows with the largest errors."""
    held_out = evidence.outcome.held_out
    worst = np.argsort(-np.abs(held_out.residuals))[:3]
    bars = tuple(
        Bar(f"row {held_out.number[j]}", f"{held_out.residuals[j]:.2f}", held_out.residuals[j])
        for j in worst
    )
    numbers = tuple((bar.name, bar.text) for bar in bars)
    axis = bar_axis("error", bars)
    chart = BarChart("Largest errors", "Three bars of errors.", axis, bars, ("row", "error"), numbers)
    return Section("Rows to check", ["Look at these rows first.", chart, Note("Hidden rows only.")])


def hostile(evidence):
    """Attacks in every place that a section can fill; some claim to be markup already."""
    first, second = Markup(HOSTILE[0]), HOSTILE[1]
    table = DataTable(second, (first, second), ((first, Markup(second)),), look=second, folded=first)
    bars = (Bar(Markup(second), first, 1.0),)
    axis = bar_axis(first, bars)
    chart = BarChart(second, Markup(second), axis, bars, table.columns, table.rows)
    return Section(Markup(HOSTILE[5]), [first, Markup(second), Note(Markup(HOSTILE[4])), table, chart])


def test_a_section_of_ones_own_is_on_the_page_and_in_the_contents(evidence, tmp_path):
    page = write_report(tmp_path / "page.html", evidence, sections=[*SECTIONS, largest_errors])
    html = page.read_text(encoding="utf-8")
    anchor = re.search(r'<a href="#(section-\d+)">Rows to check</a>', html)[1]
    assert f'<h2 id="{anchor}">Rows to check</h2>' in html
    worst = evidence.outcome.held_out.number[np.argmax(np.abs(evidence.outcome.held_out.residuals))]
    own = html[html.index(f'<h2 id="{anchor}">') :]
    for text in ("<p>Look at these rows first.</p>", f"<bdi>row {worst}</bdi>", "Hidden rows only."):
        assert text in own
    assert html.count("<h2") == 1 + write_report(tmp_path / "b.html", evidence).read_text().count("<h2")


def test_sections_are_chosen_ordered_and_left_out(evidence, tmp_path):
    chosen = [largest_errors, lambda evidence: None, SECTIONS[0]]
    html = write_report(tmp_path / "page.html", evidence, sections=chosen).read_text(encoding="utf-8")
    headings = re.findall(r"<h2[^>]*>([^<]*)</h2>", html)
    assert headings == ["Rows to check", "The error to expect"]


def test_strings_of_a_section_are_escaped_even_if_they_claim_to_be_markup(evidence, tmp_path):
    path = write_report(tmp_path / "page.html", evidence, sections=[hostile])
    html = path.read_text(encoding="utf-8")
    tags, attributes = set(), set()
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, found: (tags.add(tag), attributes.update(dict(found)))
    parser.feed(html)
    assert {"script", "img", "b", "iframe", "link"}.isdisjoint(tags)
    assert not [name for name in attributes if name.startswith("on") or name in ("style", "src")]
    assert "\u202e" not in html
    assert visible(HOSTILE[4]) in html


def test_a_hostile_section_runs_nothing_in_a_browser(evidence, tmp_path, browser):
    path = write_report(tmp_path / "page.html", evidence, sections=[hostile])
    page = browser.new_page()
    page.goto(path.as_uri())
    page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
    assert page.evaluate("window.hit") is None
    assert page.locator("script, img, [onload], [onerror], [style]").count() == 0
    text = page.locator("main").inner_text()
    for attack in (*HOSTILE[:2], HOSTILE[5], visible(HOSTILE[4])):
        assert attack in text
    page.close()
