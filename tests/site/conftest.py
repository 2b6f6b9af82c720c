"""What the tests of the site share: built sites, a server on this machine, a headless browser."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tests.render.hostile import write_hostile_tree
from tests.render.trees import rich_tree
from tests.site.building import ROOT, built_site
from tests.site.reading import Page, read_site

OpenBrowser = Callable[..., webdriver.Chrome]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is the library's
        """Say nothing."""


@pytest.fixture(scope="session")
def our_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site of this repository."""
    return built_site(ROOT, tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="session")
def our_pages(our_site: Path) -> dict[str, Page]:
    """The pages of our site."""
    return read_site(our_site)


@pytest.fixture(scope="session")
def hostile_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site of a tree full of text that would be markup."""
    place = tmp_path_factory.mktemp("hostile")
    return built_site(write_hostile_tree(place / "tree"), place)


@pytest.fixture(scope="session")
def proven_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site of a small tree with fresh evidence."""
    place = tmp_path_factory.mktemp("proven")
    return built_site(rich_tree(place / "tree"), place)


@pytest.fixture(scope="session")
def served(our_site: Path) -> Iterator[str]:
    """The address of our site on this machine."""
    yield from _served(our_site)


@pytest.fixture(scope="session")
def hostile_served(hostile_site: Path) -> Iterator[str]:
    """The address of the hostile site on this machine."""
    yield from _served(hostile_site)


@pytest.fixture(scope="session")
def proven_served(proven_site: Path) -> Iterator[str]:
    """The address of the small site with evidence on this machine."""
    yield from _served(proven_site)


def _served(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """A headless browser of a desk's width in light colours; a missing one is a failure, never a skip."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.fail("chromium and chromedriver are not installed: make browser")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    profile = tmp_path_factory.mktemp("profile")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))
    # The theme remembers the colours of the first page; each page shall see a reader who comes for the first time.
    opened.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "localStorage.clear()"})
    yield opened
    opened.quit()
