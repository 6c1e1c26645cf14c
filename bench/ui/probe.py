"""Measures a page inside the browser."""

from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext, CDPSession, Page

# Runs before the page's own scripts. Times are milliseconds since the navigation began.
WATCH = """
window.__bench = { tasks: [], rows: null };
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.__bench.tasks.push([task.startTime, task.duration]);
}).observe({ type: 'longtask', buffered: true });
const seen = new MutationObserver(() => {
  if (document.querySelector('[role=treegrid] [role=row][aria-level]')) {
    // The frame after the next one shows them.
    const note = () => (window.__bench.rows = performance.now());
    requestAnimationFrame(() => requestAnimationFrame(note));
    seen.disconnect();
  }
});
seen.observe(document, { childList: true, subtree: true });
"""

# Scrolls by a screen in five frames, from the top to the bottom and back, and counts the frames.
SCROLL = """
async (seconds) => {
  const grid = document.querySelector('[role=treegrid]');
  const step = grid.clientHeight / 5;
  const times = [];
  let down = true;
  await new Promise((resolve) => {
    const begun = performance.now();
    const frame = (now) => {
      times.push(now);
      const last = grid.scrollHeight - grid.clientHeight;
      if (grid.scrollTop >= last - 1) down = false;
      if (grid.scrollTop <= 0) down = true;
      grid.scrollTop += down ? step : -step;
      if (now - begun < seconds * 1000) requestAnimationFrame(frame);
      else resolve();
    };
    requestAnimationFrame(frame);
  });
  const gaps = times.slice(1).map((time, index) => time - times[index]).sort((a, b) => a - b);
  const frames = (gaps.length * 1000) / (times.at(-1) - times[0]);
  return { frames, p95: gaps[Math.floor(gaps.length * 0.95)] };
}
"""

COMPLETE = "[role=treegrid]:not([aria-rowcount='-1'])"


@dataclass
class Figures:
    """Milliseconds, frames a second, and megabytes."""

    rows_ms: float
    complete_ms: float
    longest_task_ms: float
    frames: float
    frame_p95_ms: float
    heap_mb: float
    tasks: list[tuple[float, float]] = field(default_factory=list)


def measure(context: BrowserContext, url: str, scroll_secs: float = 3.0) -> tuple[Figures, Page]:
    """Opens a session in a new page and scrolls through it; the page stays open."""
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(url)
    page.wait_for_selector(COMPLETE, timeout=60_000)
    page.wait_for_function("window.__bench.rows !== null")
    complete = float(page.evaluate("performance.now()"))
    # Work that is left from the last answer counts too.
    page.evaluate("new Promise((done) => requestIdleCallback(done, { timeout: 2000 }))")
    scrolled = page.evaluate(SCROLL, scroll_secs)
    found = page.evaluate("window.__bench")
    tasks = [(at, length) for at, length in found["tasks"]]
    figures = Figures(
        rows_ms=found["rows"],
        complete_ms=complete,
        longest_task_ms=max((length for _, length in tasks), default=0.0),
        frames=scrolled["frames"],
        frame_p95_ms=scrolled["p95"],
        heap_mb=heap_mb(context.new_cdp_session(page)),
        tasks=tasks,
    )
    return figures, page


def heap_mb(session: CDPSession) -> float:
    """Returns the used heap after a collection of garbage."""
    session.send("HeapProfiler.enable")
    session.send("HeapProfiler.collectGarbage")
    return float(session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6
