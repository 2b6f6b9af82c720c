"""A conformance report as a page, opened from the file system: nothing is asked for, and everything can be read."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from sharedkv_conformance.forms.page import render_page
from tests.conformance.test_report import FAILED
from tests.site.browsing import PHONE, asked, console, look

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def as_it_was(browser: webdriver.Chrome) -> Iterator[None]:
    yield
    look(browser)


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "report.html"
    path.write_text(render_page(FAILED), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_opens_from_the_file_system_and_asks_for_nothing(
    browser: webdriver.Chrome, page: str, scheme: str
) -> None:
    look(browser, size=PHONE, scheme=scheme)
    console(browser)
    list(asked(browser))
    browser.get(page)

    assert (list(asked(browser)), console(browser)) == ([page], [])
    assert browser.execute_script("return document.documentElement.scrollWidth") <= PHONE[0]


def test_words_filter_statements(browser: webdriver.Chrome, page: str) -> None:
    browser.get(page)
    browser.find_element(By.NAME, "words").send_keys("S2")
    shown = [item.get_attribute("id") for item in browser.find_elements(By.CSS_SELECTOR, ".statement:not([hidden])")]

    assert shown == ["RFC-0002:C-SPLIT#S2"]
