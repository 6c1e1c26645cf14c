"""One deployment and one Chromium for all browser tests, and signed-in people.

Every page is watched: an error in the console, a report of the security policy, or a request to
another origin fails the test that caused it.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)

from devstack.up.deployment import Deployment
from tests.support.deployment import kept_stores, running_deployment
from tests.support.evaluator import Evaluator, running_evaluator
from tests.support.runtime import connected
from tests.ui.browser.planted import HOSTILE, PLAIN, Planted, judge, plant
from tests.ui.browser.site import Person, Site, open_site, settings_of
from tests.ui.node import UI, require_packages

WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}

# Other tests may keep the machine busy.
_WITHIN_MS = 15_000
expect.set_options(timeout=_WITHIN_MS)

# Chromium reports each answer of 400 and more; the page itself says what it means.
_FAILED_ANSWER = "Failed to load resource: the server responded with a status of "


@pytest.hookimpl(tryfirst=True)  # tests/conftest.py decides afterwards which tests are fast
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks these tests: they start servers."""
    for item in items:
        if "/ui/browser/" in item.nodeid:
            item.add_marker("flow")


def chromium_path() -> str | None:
    """Returns the browser that the environment names, or one of the system.

    The one without a window is the first choice: it takes half the processor time.
    """
    named = os.environ.get("CHROMIUM")
    return named or shutil.which("chromium-headless-shell") or shutil.which("chromium")


def chromium_arguments() -> list[str]:
    """Returns what the browser needs here: its sandbox does not work for root."""
    return ["--no-sandbox"] if os.geteuid() == 0 else []


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser. Without one the tests skip, and fail in CI."""
    found = chromium_path()
    if found is None:
        reason = "no Chromium: apt-get install chromium-headless-shell"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="package")
def browser(chromium: str) -> Iterator[Browser]:
    """The browser."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=chromium_arguments())
        yield running
        running.close()


@pytest.fixture(scope="package")
def model() -> Iterator[Evaluator]:
    """The language model of the assistant, which answers as a test says."""
    with running_evaluator() as running:
        yield running


@pytest.fixture(scope="package")
def deployment(chromium: str, model: Evaluator) -> Iterator[Deployment]:
    """The service behind a proxy, with an evaluator that scores at once, and an assistant."""
    given = {
        **LONG_EVENTS,
        "ASSISTANT_BASE_URL": model.url,
        "ASSISTANT_MODELS": "small",
        "PROXY_AUTH_HEADER": "X-Forwarded-Email",
        "PROXY_AUTH_SECRET": PROXY_SECRET,
    }
    with (
        kept_stores() as stores,
        running_evaluator() as evaluator,
        running_deployment(evaluator, **given, **stores) as running,
    ):
        evaluator.default = judge
        yield running


@pytest.fixture(scope="package")
def site(deployment: Deployment) -> Iterator[Site]:
    """The deployment with organizations, members and sessions."""
    with connected(settings_of(deployment)) as runtime:
        yield open_site(deployment, runtime)


@pytest.fixture(scope="package")
def rival(site: Site) -> Planted:
    """An organization whose every text is hostile, and must not be seen by others."""
    return plant(site, HOSTILE)


@pytest.fixture(scope="package")
def ours(site: Site) -> Planted:
    """An organization with one of everything."""
    return plant(site, PLAIN)


@pytest.fixture(scope="session")
def axe() -> Path:
    """The script of axe-core, which comes with the client's packages."""
    require_packages()
    return UI / "node_modules" / "axe-core" / "axe.min.js"


@dataclass
class Watch:
    """Collects the forbidden things that pages of a context did."""

    origin: str
    problems: list[str] = field(default_factory=list)
    # Of answers of 500 and more that a test gives itself.
    expected: set[int] = field(default_factory=set)

    def follow(self, context: BrowserContext) -> None:
        """Listens to all pages of the context, also those that it opens later."""
        context.on("console", self._console)
        context.on("weberror", lambda error: self.problems.append(f"exception: {error.error}"))
        context.on("request", lambda request: self._request(request.url))

    def _console(self, message: ConsoleMessage) -> None:
        # Reports of the security policy are console errors too.
        failed = tuple(f"{_FAILED_ANSWER}{status}" for status in (4, *self.expected))
        if message.type == "error" and not message.text.startswith(failed):
            self.problems.append(f"console: {message.text}")

    def _request(self, url: str) -> None:
        if not url.startswith((f"{self.origin}/", "data:", f"blob:{self.origin}/")):
            self.problems.append(f"request to another origin: {url}")


# Longer events than usual: the pages have to bear them.
LONG_EVENTS = {"INGEST_MAX_EVENT_BYTES": str(8 * 1024 * 1024)}

# A request with it comes from the proxy, which may name a person.
PROXY_SECRET = "the secret of the browser's proxy"

Opened = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Opened]:
    """Opens a page: `visit(who, path, viewport=…, …)`; who is a role, a person, or None, a visitor.

    `script` is the path of one that runs in each page before its own. `answers` is the status of
    500 and more with which the test answers a request itself.
    """
    contexts: list[BrowserContext] = []
    watch = Watch(site.url)

    def opened(
        who: str | Person | None,
        path: str,
        *,
        script: Path | None = None,
        answers: int | None = None,
        **options: object,
    ) -> Page:
        if answers is not None:
            watch.expected.add(answers)
        settings = {"viewport": WIDE, "timezone_id": "Europe/Berlin", **options}
        context = browser.new_context(base_url=site.url, **settings)  # type: ignore[arg-type]
        context.set_default_timeout(_WITHIN_MS)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site.url)
        watch.follow(context)
        contexts.append(context)
        if who is not None:
            token = (site.people[who] if isinstance(who, str) else who).token
            context.add_cookies([{"name": "service_session", "value": token, "url": site.url}])
        if script is not None:
            context.add_init_script(path=script)
        page = context.new_page()
        page.goto(path if path.startswith("/") else f"/o/{site.org.slug}/{path}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert sorted(set(watch.problems)) == []


@pytest.fixture
def admin(visit: Opened) -> Callable[[str], Page]:
    """Opens a page of the organization as a member with all permissions."""
    return lambda path: visit("admin", path)


@pytest.fixture
def reader(visit: Opened) -> Callable[[str], Page]:
    """Opens a page of the organization as a member that may only read."""
    return lambda path: visit("reader", path)
