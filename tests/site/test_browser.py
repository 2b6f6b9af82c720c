"""The site as a reader has it: in a browser, light and dark, on a desk and on a phone."""

from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.site.browsing import DESK, PHONE, Visit, addresses, asked, console, contrasts, is_outside, look, visit

pytestmark = pytest.mark.browser
READABLE = 4.5
S1 = "C-OWNER-LANE-INVARIANT.S1"
MUTANT = "allocation.lane-without-minus-one"


def wait(browser: webdriver.Chrome, script: str) -> object:
    """Wait until a script answers something that is true, and return it."""
    return WebDriverWait(browser, 10, 0.05).until(lambda driver: driver.execute_script(f"return {script}"))


def follow(browser: webdriver.Chrome, address: str) -> None:
    """Click the first link of the page with this address, as it stands in the source."""
    link = browser.find_element(By.CSS_SELECTOR, f'.md-content a[href="{address}"]')
    browser.execute_script("arguments[0].click()", link)


def is_in_view(browser: webdriver.Chrome, anchor: str) -> bool:
    """Say whether the element with an id is on the screen and below the header."""
    script = """
    const box = document.getElementById(arguments[0]).getBoundingClientRect();
    const header = document.querySelector(".md-header").getBoundingClientRect();
    return box.top >= header.bottom - 1 && box.top < innerHeight;
    """
    return bool(browser.execute_script(script, anchor))


# Widths and colours each once: what depends on both at a time would take every page two visits more.
@pytest.fixture(scope="module", params=[(DESK, "light"), (PHONE, "dark")], ids=str)
def visits(
    request: pytest.FixtureRequest, browser: webdriver.Chrome, served: str, our_site: Path
) -> tuple[int, list[Visit]]:
    """Every page of our site, seen at one width and in one scheme of colours."""
    size, scheme = request.param
    look(browser, size=size, scheme=scheme)
    return size[0], visit(browser, addresses(served, our_site))


def test_no_page_complains(visits: tuple[int, list[Visit]]) -> None:
    assert [(seen.address, line) for seen in visits[1] for line in seen.complaints] == []


def test_no_page_asks_another_machine(visits: tuple[int, list[Visit]]) -> None:
    requests = [(seen.address, address) for seen in visits[1] for address in seen.requests]

    assert (len(requests) > len(visits[1]), [pair for pair in requests if is_outside(pair[1])]) == (True, [])


def test_no_page_is_wider_than_the_screen(visits: tuple[int, list[Visit]]) -> None:
    width, seen = visits

    assert {page.address: page.width for page in seen if page.width > width} == {}


def test_every_text_can_be_read(visits: tuple[int, list[Visit]]) -> None:
    texts = [(seen.address, *text) for seen in visits[1] for text in seen.contrasts]

    assert (len(texts) > 1000, [text for text in texts if text[1] < READABLE]) == (True, [])


def test_the_listener_hears_a_request_to_another_machine(browser: webdriver.Chrome, served: str) -> None:
    browser.get(served)
    list(asked(browser))
    browser.execute_script("new Image().src = 'http://x.invalid/a.png'")
    heard: list[str] = []

    def has_heard(_: webdriver.Chrome) -> bool:
        heard.extend(asked(browser))
        return any(map(is_outside, heard))

    assert WebDriverWait(browser, 10, 0.05).until(has_heard)
    console(browser)


def test_the_meter_sees_a_faint_text(browser: webdriver.Chrome, served: str) -> None:
    look(browser)
    browser.get(served)
    browser.execute_script("document.querySelector('.md-content h1').style.color = '#eeeeee'")

    assert [kind for ratio, kind, _ in contrasts(browser) if ratio < READABLE] == ["H1"]


@pytest.mark.parametrize(("scheme", "is_dark"), [("light", False), ("dark", True)])
def test_the_site_has_the_colours_that_the_reader_prefers(
    browser: webdriver.Chrome, served: str, scheme: str, *, is_dark: bool
) -> None:
    look(browser, scheme=scheme)
    browser.get(served)

    assert (wait(browser, "document.body.dataset.mdColorScheme") == "slate") is is_dark


def test_three_clicks_lead_to_the_wrong_lane_rule(browser: webdriver.Chrome, served: str) -> None:
    look(browser)
    browser.get(served)
    follow(browser, f"rfc/RFC-0001.html#{S1}")
    wait(browser, f"document.getElementById('{S1}') !== null")
    follow(browser, f"../wrong/allocation.html#{MUTANT}")
    wait(browser, f"document.getElementById('{MUTANT}') !== null")

    assert is_in_view(browser, MUTANT)
    assert "class LaneWithoutMinusOne" in browser.find_element(By.CSS_SELECTOR, ".md-content article").text


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_a_permanent_link_shows_its_statement(browser: webdriver.Chrome, served: str, size: tuple[int, int]) -> None:
    look(browser, size=size)
    browser.get(f"{served}rfc/RFC-0001.html#{S1}")

    assert is_in_view(browser, S1)
    assert browser.execute_script(f"return document.querySelector(':target').id === '{S1}'")


def test_a_search_finds_a_statement_by_its_words(browser: webdriver.Chrome, served: str) -> None:
    look(browser)
    browser.get(served)
    field = browser.find_element(By.CSS_SELECTOR, ".md-search__input")
    browser.execute_script("arguments[0].focus()", field)
    field.send_keys("flattened owner list")
    links = "[...document.querySelectorAll('.md-search-result__link')].map(a => a.href)"
    wait(browser, f"{links}.some(a => a.includes('RFC-0001.html'))")
    found = browser.execute_script(f"return {links}")

    assert any(f"#{S1}" in address for address in found)


def test_hostile_text_runs_nothing_and_is_seen(browser: webdriver.Chrome, hostile_served: str) -> None:
    look(browser)
    console(browser), list(asked(browser))
    browser.get(f"{hostile_served}rfc/RFC-0001.html")
    field = browser.find_element(By.CSS_SELECTOR, ".md-search__input")
    browser.execute_script("arguments[0].focus()", field)
    field.send_keys("whole")
    wait(browser, "document.querySelectorAll('.md-search-result__link').length > 0")

    assert (
        "A lane MUST show <script>alert(1)</script> whole."
        in browser.find_element(By.CSS_SELECTOR, ".md-content article").text
    )
    assert [line for line in console(browser) if "favicon" not in line] == []
    assert [address for address in asked(browser) if is_outside(address)] == []


def test_every_id_is_reached_by_its_link(browser: webdriver.Chrome, hostile_served: str) -> None:
    look(browser)
    browser.get(f"{hostile_served}rfc/RFC-0001.html")
    script = """
    return [...document.querySelectorAll("article :is(h1, h2, h3, h4) a.headerlink")]
      .filter(a => document.getElementById(decodeURIComponent(a.hash.slice(1))) !== a.parentElement)
      .map(a => a.hash);
    """

    assert browser.execute_script(script) == []


def test_the_kill_matrix_keeps_its_heads_in_view(browser: webdriver.Chrome, proven_served: str) -> None:
    look(browser, size=PHONE)
    browser.get(f"{proven_served}proof/kills.html")
    styles = browser.execute_script(
        "return ['thead th', 'tbody th'].map(s => getComputedStyle(document.querySelector(`.kills ${s}`)).position)"
    )

    assert styles == ["sticky", "sticky"]


def test_a_status_is_text_and_not_colour_alone(browser: webdriver.Chrome, proven_served: str) -> None:
    look(browser)
    browser.get(f"{proven_served}rfc/RFC-0001.html")
    badges = browser.execute_script("return [...document.querySelectorAll('.badge')].map(b => b.textContent.trim())")

    assert {"MUST", "proven", "pass", "killed"} <= set(badges)
    assert "" not in badges
