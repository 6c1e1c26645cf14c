"""Reads the toolbar "View" and the page beside it, so that tests can compare the two."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Locator, Page, expect

from tests.support.processes import wait_until

# A value that a shell, a URL, JSON, SQL or a template could read otherwise. Ids have no line
# breaks, environments no commas either.
HOSTILE_ID = """it's "5" \\ $HOME `id` $(id) $1 %41 {x} [y] é, -- \\' é"""
HOSTILE_PLACE = HOSTILE_ID.replace(",", ";")
HOSTILE = f"{HOSTILE_ID}\n\tDROP; \r--"


def in_url(**state: object) -> str:
    """Returns a query of the UI; values are lists, whose commas are escaped."""
    texts = {
        name: ",".join(one.replace(",", "\\,") for one in value)
        if isinstance(value, list)
        else str(value)
        for name, value in state.items()
    }
    return urlencode(texts)


@dataclass(frozen=True)
class View:
    """A page that is open, and a key that may read what it shows."""

    page: Page
    key: str

    @property
    def toolbar(self) -> Locator:
        """The toolbar "View"."""
        return self.page.get_by_role("toolbar", name="View")

    def open(self, url: str) -> None:
        """Goes to a page, and waits until it has read what it shows."""
        self.page.goto(url)
        expect(self.toolbar).to_be_visible()
        expect(self.page.locator("main [aria-busy=true]")).to_have_count(0)
        expect(self.page.locator("main .skeleton")).to_have_count(0)

    def curl(self) -> Any:
        """Returns the answer to the line of "Copy as curl", from a shell with the key."""
        self.page.evaluate("navigator.clipboard.writeText('')")
        # By the keyboard: what arrives late may move the button from under a mouse.
        self.toolbar.get_by_role("button", name="Copy as curl").press("Enter")
        # Playwright's own wait evaluates texts in the page, which its policy forbids.
        wait_until(lambda: bool(self.page.evaluate("navigator.clipboard.readText()")))
        line = self.page.evaluate("navigator.clipboard.readText()")
        assert "\n" not in line
        assert self.key not in line
        assert shutil.which("curl"), "no curl: apt-get install curl"
        done = subprocess.run(
            ["sh", "-c", line],
            env={"PATH": os.environ["PATH"], "WATCHPOST_KEY": self.key, "HOME": "/nowhere"},
            capture_output=True,
            timeout=30,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b""), (line, done)
        answer = json.loads(done.stdout)
        assert not (isinstance(answer, dict) and "request_id" in answer), (line, answer)
        return answer

    def sql(self) -> list[dict[str, Any]]:
        """Returns the rows of "Open in SQL", by column; leaves the page."""
        link = self.toolbar.get_by_role("link", name="Open in SQL")
        # In one step: what arrives late may change the address after it was read, or move the link
        # between the press and the release of a mouse, which is no click then.
        with self.page.expect_response(lambda one: one.url.endswith("/v1/queries/run")) as run:
            link.evaluate("link => link.click()")
        sent = (run.value.request.post_data_json or {}).get("sql")
        answer = run.value.json()
        assert run.value.status == 200, (sent, answer)
        found = answer["rows"]
        noun = "row" if len(found) == 1 else "rows"
        results = self.page.get_by_role("region", name="Results")
        expect(results.get_by_role("status").first).to_contain_text(f"{len(found)} {noun} in")
        names = [column["name"] for column in answer["columns"]]
        return [dict(zip(names, row, strict=True)) for row in found]

    def table(self, name: str) -> Locator:
        """Returns the table of this exact name."""
        return self.page.get_by_role("table", name=name, exact=True)

    def events(self, table: str) -> list[int]:
        """Returns the ids of the events that a table shows."""
        links = self.table(table).get_by_role("link")
        addresses = links.evaluate_all("links => links.map(link => link.href)")
        ids = [parse_qs(urlsplit(address).query).get("e", [""])[0] for address in addresses]
        return list(dict.fromkeys(int(one) for one in ids if one))

    def cells(self, table: str) -> list[list[str]]:
        """Returns the texts of a table's rows without its head, exact values where they differ."""
        found: list[list[str]] = (
            self.table(table)
            .get_by_role("row")
            .evaluate_all(
                """rows => rows.slice(1).map(row => [...row.cells].map(cell =>
                (cell.querySelector("[title]") ?? cell).getAttribute("title") ?? cell.innerText))"""
            )
        )
        return found

    def figure(self, name: str) -> str:
        """Returns the exact value of a key figure."""
        term = self.page.get_by_role("term").filter(has_text=name).first
        value: str = term.evaluate(
            """term => { const { firstChild } = term.nextElementSibling;
                return firstChild.title || firstChild.textContent; }"""
        )
        return value


def number(text: str) -> float:
    """Returns the number of a text like "1,164", "480 ms" or "302 pairs"."""
    return float(text.split(" ")[0].replace(",", ""))
