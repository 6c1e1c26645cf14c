"""Measures the SQL page: from the click on "Run" to the rows."""

from dataclasses import dataclass
from urllib.parse import quote

from playwright.sync_api import BrowserContext

ROWS = 10_000
STATEMENT = (
    "SELECT id, session_id, agent_id, event_type, ts, environment, summary, is_error"
    f" FROM events LIMIT {ROWS}"
)

# Clicks, and notes when the first rows are there and how long the longest task took.
RUN = """
() => new Promise((resolve) => {
  const tasks = [0];
  const watch = new PerformanceObserver((list) => {
    for (const task of list.getEntries()) tasks.push(task.duration);
  });
  watch.observe({ type: 'longtask' });
  const begun = performance.now();
  const seen = new MutationObserver(() => {
    if (!document.querySelector('main table[aria-rowcount] tr[data-row]')) return;
    seen.disconnect();
    // The frame after the next one shows them.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const rows_ms = performance.now() - begun;
      setTimeout(() => resolve({ rows_ms, longest_task_ms: Math.max(...tasks) }), 500);
    }));
  });
  seen.observe(document, { childList: true, subtree: true });
  document.querySelector('.sql-controls .button.primary').click();
})
"""


@dataclass
class RowFigures:
    """Milliseconds until the rows are shown, and of the longest task meanwhile."""

    rows_ms: float
    longest_task_ms: float


def measure_rows(context: BrowserContext, base: str) -> RowFigures:
    """Runs a statement of 10,000 rows in a new page; `base` is the URL of the organization."""
    page = context.new_page()
    page.goto(f"{base}/sql?sql={quote(STATEMENT)}")
    page.get_by_role("tree", name="Schema").wait_for()
    page.evaluate("new Promise((done) => requestIdleCallback(done, { timeout: 2000 }))")
    found = page.evaluate(RUN)
    page.close()
    return RowFigures(**found)
