"""Takes a picture of every page: `bin/ui pictures [--out FOLDER] [--only TEXT]`.

Starts a deployment of its own with four organizations: the demonstration, the recording of an
airline's agent (where it is present), one whose every text is hostile, and an empty one. Each page
is taken at 1440 and 390 pixels in both themes. `index.html` in the folder shows all of them side by
side. Needs Chromium.
"""

import html
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlencode

import click
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright
from rich.console import Console
from sqlalchemy import select

from devstack.up.api import Api as Client
from devstack.up.demo import play
from devstack.up.deployment import Deployment
from shared.access.organizations.models import Organization
from tests.flows.api import Api, batches, eventually
from tests.support.airline import airline_folder, load_airline
from tests.support.app import new_key
from tests.support.deployment import running_deployment
from tests.support.evaluator import running_evaluator
from tests.support.people import add_member, signed_in
from tests.support.runtime import Org, connected, make_org
from tests.ui.browser.conftest import LONG_EVENTS, chromium_arguments, chromium_path
from tests.ui.browser.planted import HOSTILE, judge, plant, settled
from tests.ui.browser.site import Site, open_site, settings_of
from web.ui.routes import STATIC

WIDTHS: dict[int, ViewportSize] = {
    1440: {"width": 1440, "height": 900},
    390: {"width": 390, "height": 844},
}
_THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_OUT = STATIC.parents[2] / "build" / "pictures"
_STORED_WITHIN_SECS = 120.0

# Pages without an id; the others follow from what the organization has.
_LISTS = (
    *("start", "sessions?live=0", "events?live=0&t=all", "errors?t=all", "latency?t=all"),
    *("evaluations?t=all", "costs", "sql", "dashboards", "alerts", "alerts/new", "incidents"),
    *("audits", "findings", "keys", "members", "permission-sets", "settings", "model-windows"),
    *("prices", "prices?source=builtin", "audit-log"),
    *("sources", "sources?view=otel", "sources?view=skipped", "deletions", "usage"),
)
_VIEWS = ("waterfall", "transcript", "evaluations", "table")
# The page of one thing, the list that names it, and the field that holds the rows of an envelope.
_DETAILS = (
    ("sql", "/queries", "queries"),
    ("dashboards", "/dashboards", "dashboards"),
    ("alerts", "/alerts", "alerts"),
    ("incidents", "/alerts/incidents", "incidents"),
    ("audits", "/audits", "audits"),
    ("findings", "/audits/findings", "findings"),
)


@dataclass(frozen=True)
class Subject:
    """An organization to look at. `token` is that of a session of its administrator."""

    name: str
    slug: str
    token: str
    api: Api

    def paths(self) -> Iterator[str]:
        """Yields the pages below the organization."""
        yield from _LISTS
        sessions = [row["session_id"] for row in self.api.get("/sessions", limit=2)["sessions"]]
        for session in sessions[:1]:
            yield from (f"sessions/{quote(session, safe='')}?view={view}" for view in _VIEWS)
        if sessions:
            yield f"compare?{urlencode({'a': sessions[0], 'b': sessions[-1]})}"
        for page, path, field in _DETAILS:
            answer = self.api.get(path)
            rows = answer if isinstance(answer, list) else answer[field]
            yield from (f"{page}/{row['id']}" for row in rows[:1])


@contextmanager
def _subjects() -> Iterator[tuple[str, list[Subject]]]:
    with running_evaluator() as evaluator:
        evaluator.default = judge
        with (
            running_deployment(evaluator, **LONG_EVENTS) as deployment,
            connected(settings_of(deployment)) as runtime,
        ):
            site = open_site(deployment, runtime)
            demonstration = _demonstration(site, deployment)
            rival = plant(site, HOSTILE)
            hostile = Subject("hostile", rival.org.slug, rival.people["admin"].token, rival.api)
            empty = _subject(site, "empty", make_org(runtime))
            yield deployment.url, [demonstration, *_recording(site), hostile, empty]


def _subject(site: Site, name: str, org: Org) -> Subject:
    token = _bearer(signed_in(site.runtime, add_member(site.runtime, org)))
    return Subject(name, org.slug, token, Api(site.api.port, _bearer(new_key(site.runtime, org))))


def _bearer(headers: dict[str, str]) -> str:
    return headers["Authorization"].removeprefix("Bearer ")


def _demonstration(site: Site, deployment: Deployment) -> Subject:
    client = Client(deployment.url, deployment.admin_key)
    try:
        play(client, Console(stderr=True), sql=deployment.runs_sql)
    finally:
        client.close()
    with site.runtime.postgres.transaction() as session:
        first = session.scalars(select(Organization).order_by(Organization.created_at)).first()
        assert first is not None
        org = Org(first.id, first.slug)
    return _subject(site, "demonstration", org)


def _recording(site: Site) -> Iterator[Subject]:
    if not airline_folder().exists():
        return
    subject = _subject(site, "recording", make_org(site.runtime))
    recording = load_airline().recent()
    for batch in batches(list(recording.lines), 1500):
        subject.api.deliver(batch)
    eventually(
        _STORED_WITHIN_SECS,
        "the recording is stored",
        lambda: (
            sum(row["event_count"] for row in subject.api.rows("sessions")) == len(recording.lines)
        ),
    )
    yield subject


def _shoot(browser: Browser, url: str, subject: Subject, only: str, out: Path) -> Iterator[Path]:
    folder = out / subject.name
    folder.mkdir(parents=True, exist_ok=True)
    for theme in _THEMES:
        context = browser.new_context(
            base_url=url,
            reduced_motion="reduce",
            color_scheme="dark" if theme == "dark" else "light",
        )
        context.add_cookies([{"name": "service_session", "value": subject.token, "url": url}])
        page = context.new_page()
        for index, path in enumerate(subject.paths()):
            if only not in path:
                continue
            # Some pages show nothing, not even a skeleton, for the first moments.
            page.goto(f"/o/{subject.slug}/{path}", wait_until="networkidle")
            for width, size in WIDTHS.items():
                file = folder / f"{index:02}-{_name(path)}-{width}-{theme}.png"
                _take(page, size, file)
                yield file
        context.close()


def _take(page: Page, size: ViewportSize, file: Path) -> None:
    page.set_viewport_size(size)
    settled(page)
    page.screenshot(path=file)


def _name(path: str) -> str:
    """Returns the page's name, without ids."""
    name, _, query = path.partition("?")
    view = query.removeprefix("view=") if query.startswith("view=") else ""
    parts = name.split("/")
    one = "new" if parts[1:] == ["new"] else "one"
    return "-".join([parts[0], *([one] if parts[1:] else []), *([view] if view else [])])


def _index(out: Path) -> None:
    """Writes a page with all pictures of the folder."""
    pictures = sorted(file.relative_to(out).as_posix() for file in out.glob("*/*.png"))
    figures = "\n".join(
        f'<figure><a href="{name}"><img src="{name}"></a><figcaption>{name}</figcaption></figure>'
        for name in map(html.escape, pictures)
    )
    style = "body{display:flex;flex-wrap:wrap}figure{margin:4px}img{height:340px}"
    (out / "index.html").write_text(f"<!doctype html><style>{style}</style>{figures}")


@click.command(help=__doc__)
@click.option("--out", type=click.Path(path_type=Path), default=_OUT, show_default="build/pictures")
@click.option("--only", default="", help="Pages whose path contains this text.")
def main(out: Path, only: str) -> None:
    with _subjects() as (url, subjects), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=chromium_arguments()
        )
        for subject in subjects:
            taken = len(list(_shoot(browser, url, subject, only, out)))
            click.echo(f"{subject.name}: {taken} pictures")
        browser.close()
    _index(out)
    click.echo(f"open {out / 'index.html'}")


if __name__ == "__main__":
    main()
