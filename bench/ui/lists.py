"""Measures lists over many events in Chromium.

    python -m bench.ui.lists [--events 10000000] [--runs 5] [--data DIRECTORY]

Generates a month of events inside ClickHouse, in 20 organizations, and opens the lists of the
largest one, which has two fifths of them. Prints the median of the runs and the bar: from the
answer to the rows on the screen, and from a key in a filter to the next frame. A ! marks each bar
that is missed. `--data` keeps the stores for later runs.
"""

import statistics
import sys
import tempfile
from pathlib import Path

import click
from playwright.sync_api import BrowserContext, Page
from sqlalchemy import select

# Lets `python bench/ui/lists.py` find its neighbours, as `python -m bench.ui.lists` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.site import Site
from bench.ui.browser import chromium, line
from bench.workload import ensure
from shared.access.permissions import ADMIN_SET
from shared.access.users import Membership, User, memberships_of
from shared.access.users.sign_in.sessions import open_session
from shared.foundation.core.config import load_settings
from shared.foundation.postgres import Postgres

ROWS_MS = 300.0
KEY_MS = 50.0
# Page → the path of its request below /v1, and a field of its filters.
LISTS = {"sessions": ("sessions", "Session"), "events": ("events/summary", "Search payloads")}
_TYPED = "generated-0123456789"
_BETWEEN_KEYS_MS = 120

# Runs before the page's own scripts. The duration of an event ends with the frame that shows its
# result.
WATCH = """
window.__bench = { rows: null, keys: [] };
const seen = new MutationObserver(() => {
  if (!document.querySelector('main table tr[data-row]')) return;
  seen.disconnect();
  const note = () => (window.__bench.rows = performance.now());
  requestAnimationFrame(() => requestAnimationFrame(note));
});
seen.observe(document, { childList: true, subtree: true });
new PerformanceObserver((list) => {
  for (const { name, duration } of list.getEntries())
    if (['keydown', 'keypress', 'input'].includes(name)) window.__bench.keys.push(duration);
}).observe({ type: 'event', durationThreshold: 16, buffered: true });
"""

ANSWERED = """
path => performance.getEntriesByType('resource')
  .find(({ name }) => new URL(name).pathname === `/v1/${path}`).responseEnd
"""


def signed_in(site: Site, slug: str, org_id: str) -> str:
    """Makes the administrator a member of an organization. Returns the token of a session."""
    postgres = Postgres(site.environ["DATABASE_URL"], pool_size=1)
    with postgres.transaction() as session:
        email = site.environ["ADMIN_EMAIL"]
        user_id = session.scalars(select(User.id).where(User.email == email)).one()
        known = {membership.org_slug for membership in memberships_of(session, user_id=user_id)}
        if slug not in known:
            session.add(
                Membership(
                    org_id=org_id,
                    user_id=user_id,
                    permission_set=ADMIN_SET,
                    permission_added=[],
                    permission_removed=[],
                )
            )
            session.flush()
        members = memberships_of(session, user_id=user_id)
        token, _ = open_session(session, load_settings(site.environ), members)
    postgres.close()
    return token


def measure(context: BrowserContext, url: str, name: str) -> tuple[float, float]:
    """Returns milliseconds from the answer to the rows, and of the slowest key in a filter."""
    path, label = LISTS[name]
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(f"{url}/{name}?live=0")
    page.wait_for_function("() => window.__bench.rows !== null")
    rows = float(page.evaluate("window.__bench.rows")) - float(page.evaluate(ANSWERED, path))
    slowest = slowest_key(page, label)
    page.close()
    return rows, slowest


def slowest_key(page: Page, label: str) -> float:
    """Types into a filter. Returns the milliseconds of its slowest key, 16 if none took longer."""
    field = page.get_by_label(label, exact=True).first
    field.click()
    page.evaluate("window.__bench.keys.length = 0")
    page.keyboard.type(_TYPED, delay=_BETWEEN_KEYS_MS)
    page.evaluate("new Promise((done) => requestIdleCallback(done, { timeout: 2000 }))")
    return float(max([16.0, *page.evaluate("window.__bench.keys")]))


def report(name: str, found: list[tuple[float, float]]) -> list[str]:
    """Returns the lines about one list, each the median of its runs."""
    rows, key = (statistics.median(each) for each in zip(*found, strict=True))
    return [
        line(f"{name}: rows after the answer", rows, "ms", f"<= {ROWS_MS:.0f}", rows > ROWS_MS),
        line(f"{name}: slowest key", key, "ms", f"<= {KEY_MS:.0f}", key > KEY_MS),
    ]


@click.command(help=__doc__)
@click.option("--events", default=10_000_000)
@click.option("--runs", default=5)
@click.option("--data", type=click.Path(path_type=Path))
def main(events: int, runs: int, data: Path | None) -> None:
    """Runs the benchmark."""
    with tempfile.TemporaryDirectory(prefix="watchpost-bench-") as scratch:
        directory = data or Path(scratch)
        directory.chmod(0o755)
        with Site(directory / str(events)) as site:
            site.start_stores()
            workload = ensure(site, events, lambda _: None)
            site.start_web()
            [slug, *_], [org_id, *_] = workload.slugs, workload.org_ids
            token = signed_in(site, slug, org_id)
            url = f"http://127.0.0.1:{site.environ['PORT']}"
            with chromium(url, token) as context:
                for name in LISTS:
                    measure(context, f"{url}/o/{slug}", name)  # fills the caches
                    found = [measure(context, f"{url}/o/{slug}", name) for _ in range(runs)]
                    click.echo("\n".join(report(name, found)))


if __name__ == "__main__":
    main()
