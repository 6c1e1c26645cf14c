"""The limits of a script that got into the page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.ui.browser.site import Site

# An attempt → the error that the browser gives, or null if it was allowed.
TRY = """async () => {
    const tried = {
        markup: () => { document.body.innerHTML = "<b>x</b>"; },
        evaluated: () => (0, eval)("1"),
        compiled: () => new Function("return 1")(),
        "policy of another name": () => trustedTypes.createPolicy("another", {}),
        "second policy of the name": () => trustedTypes.createPolicy("wp", {}),
        "worker of a text": () => new Worker("data:text/javascript,1"),
        "worker elsewhere": () => new Worker("/v1/health"),
        "request to another origin": () => fetch("https://example.com/"),
        "script of a text": () => {
            const script = document.createElement("script");
            script.textContent = "executed = 1";
            document.body.append(script);
        },
    };
    // A debugger's statements may evaluate texts, but not what follows later.
    await new Promise((resolve) => setTimeout(resolve));
    const results = {};
    for (const [name, run] of Object.entries(tried))
        try { await run(); results[name] = null; } catch (error) { results[name] = error.name; }
    const image = new Image();
    image.src = "https://example.com/x.png";
    await new Promise((resolve) => { image.onerror = resolve; image.onload = resolve; });
    results.image = image.naturalWidth ? null : "not loaded";
    results.executed = "executed" in window;
    results.cookie = document.cookie;
    results.stored = JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state]);
    return results;
}"""


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """A page of its own: its console is full of reports."""
    with browser.new_context(base_url=site.url) as context:
        token = site.people["reader"].token
        cookie = {"name": "service_session", "value": token, "url": site.url, "httpOnly": True}
        context.add_cookies([cookie])  # type: ignore[list-item] # a TypedDict
        page = context.new_page()
        page.goto(site.path("sql"))
        # The SQL page has the editor, whose sheet has the nonce, and other pages start workers.
        expect(page.get_by_role("textbox", name="SQL")).to_be_visible()
        yield page


def test_a_script_on_the_page_could_do_little(page: Page, site: Site) -> None:
    found = page.evaluate(TRY)
    assert site.people["reader"].token not in found.pop("stored")
    assert found.pop("cookie") == ""
    assert found.pop("executed") is False
    assert [name for name, error in found.items() if error is None] == []


def test_no_other_page_can_show_it_or_sign_its_person_out(page: Page, site: Site) -> None:
    page.goto("about:blank")
    # The event `load`, for which this waits, comes after that of the frame.
    page.set_content(f'<iframe src="{site.path("keys")}"></iframe>')
    assert page.frames[-1].url.startswith("chrome-error:")
    page.evaluate(
        """url => fetch(url, { method: "POST", credentials: "include", body: "{}" })
            .then(() => "sent", (error) => error.name)""",
        f"{site.url}/v1/auth/logout",
    )
    assert page.context.request.get(f"{site.url}/v1/auth/session").status == 200
