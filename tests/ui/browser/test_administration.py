"""Keys, members, permission sets, settings and model windows, as people change them."""

import json
import re

from playwright.sync_api import expect

from tests.support.people import new_email
from tests.ui.browser.conftest import NARROW, Opened
from tests.ui.browser.site import Site


def test_the_secret_of_a_new_key_works_and_is_shown_once(visit: Opened, site: Site) -> None:
    page = visit("admin", "keys")
    page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog", name="New key")
    dialog.get_by_role("button", name="Create key").click()
    expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
    expect(dialog.get_by_role("textbox", name="Name")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_role("textbox", name="Name").fill("readers")
    dialog.get_by_role("button", name="Read-only").click()
    expect(dialog.get_by_role("checkbox", name="events:add")).not_to_be_checked()
    dialog.get_by_role("button", name="Create key").click()
    secret = page.get_by_role("textbox", name="Secret").input_value()
    page.get_by_role("button", name="Copy secret").click()
    assert page.evaluate("navigator.clipboard.readText()") == secret
    answer = page.request.get(
        f"{site.url}/v1/sessions", headers={"Authorization": f"Bearer {secret}"}
    )
    assert answer.status == 200
    page.keyboard.press("Escape")
    row = page.get_by_role("table", name="Keys").get_by_role("row", name="readers")
    row.get_by_role("button", name="Disable").click()
    page.get_by_role("dialog").get_by_role("button", name="Disable").click()
    expect(row).to_contain_text("Disabled")
    assert secret not in page.content()
    answer = page.request.get(
        f"{site.url}/v1/sessions", headers={"Authorization": f"Bearer {secret}"}
    )
    assert answer.status == 401


def test_a_key_gets_another_secret_and_other_permissions(visit: Opened, site: Site) -> None:
    def status_of(secret: str, path: str = "sessions") -> int:
        headers = {"Authorization": f"Bearer {secret}"}
        return page.request.get(f"{site.url}/v1/{path}", headers=headers).status

    page = visit("admin", "keys")
    page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog", name="New key")
    dialog.get_by_role("textbox", name="Name").fill("sender")
    expires = dialog.get_by_role("textbox", name="Expires")
    expires.fill("one day")
    dialog.get_by_role("button", name="Create key").click()
    expect(expires).to_be_focused()
    expect(expires).to_have_accessible_description(re.compile("RFC 3339"))
    expires.fill("90 d")
    expect(dialog.get_by_role("button", name="Collector")).to_have_attribute("aria-pressed", "true")
    dialog.get_by_role("button", name="Create key").click()
    secret = page.get_by_role("textbox", name="Secret").input_value()
    assert secret in page.get_by_role("textbox", name="Command").input_value()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert status_of(secret) == 403

    row = page.get_by_role("table", name="Keys").get_by_role("row", name="sender")
    row.get_by_role("button", name="Edit permissions").click()
    page.get_by_role("checkbox", name="evaluations:read").check()
    page.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("events:add, evaluations:read")
    assert status_of(secret) == 200

    row.get_by_role("button", name="Regenerate").click()
    page.get_by_role("dialog").get_by_role("button", name="Regenerate").click()
    renewed = page.get_by_role("textbox", name="Secret").input_value()
    assert (status_of(secret), status_of(renewed)) == (401, 200)


def test_a_grant_is_edited_as_what_results(visit: Opened, site: Site) -> None:
    page = visit("admin", "members")
    email = new_email()
    page.get_by_role("button", name="Invite").click()
    page.get_by_role("textbox", name="E-mail").fill(email)
    page.get_by_role("combobox", name="Permission set").fill("standard")
    page.get_by_role("option", name="standard").click()
    page.get_by_role("button", name="Send invitation").click()
    row = page.get_by_role("table", name="Members").get_by_role("row", name=email)
    row.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("checkbox", name="queries:write").check()
    dialog.get_by_role("checkbox", name="events:read").uncheck()
    expect(dialog.get_by_role("status")).to_contain_text("standard, 1 added, 1 removed")
    dialog.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("standard, 1 added, 1 removed")
    [user] = [one for one in site.api.get("/users") if one["email"] == email]
    assert user["permission_added"] == ["queries:write"]
    assert user["permission_removed"] == ["events:read"]
    row.get_by_role("button", name="Disable").click()
    page.get_by_role("dialog").get_by_role("button", name="Disable").click()
    expect(row).to_contain_text("Disabled")
    row.get_by_role("button", name="Enable").click()
    expect(row).to_contain_text("Active")
    expect(row).to_contain_text("standard, 1 added, 1 removed")


def test_members_that_may_only_read_see_no_actions(visit: Opened, site: Site) -> None:
    page = visit("reader", "members")
    expect(page.get_by_role("row", name=site.people["admin"].email)).to_be_visible()
    for path, action in (
        ("members", "Invite"), ("keys", "New key"), ("permission-sets", "New permission set"),
        ("model-windows", "New window"), ("prices", "New price"), ("audits", "New audit"),
        ("incidents", "Open incident"),
    ):  # fmt: skip
        page.goto(site.path(path))
        expect(page.locator("main [aria-busy=true]")).to_have_count(0)
        expect(page.get_by_role("toolbar", name="View")).to_be_visible()
        expect(page.get_by_role("button", name=action)).to_have_count(0)
    page.goto(site.path("alerts"))
    expect(page.get_by_role("link", name="New alert")).to_have_count(0)
    page.goto(site.path("settings"))
    expect(page.get_by_role("heading", name="Who may sign in")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("textbox")).to_have_count(0)


def test_an_own_permission_set_is_made_changed_and_deleted(visit: Opened) -> None:
    page = visit("admin", "permission-sets")
    page.get_by_role("button", name="New permission set").click()
    page.get_by_role("textbox", name="Name").fill("on-call")
    page.get_by_role("checkbox", name="incidents:ack").check()
    page.get_by_role("button", name="Save").click()
    table = page.get_by_role("table", name="Permission sets")
    head = table.get_by_role("columnheader", name=re.compile("on-call"))
    head.get_by_role("button", name="Edit").click()
    expect(page.get_by_role("checkbox", name="incidents:ack")).to_be_checked()
    page.get_by_role("checkbox", name="incidents:read").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    head.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(head).to_have_count(0)


def test_each_setting_is_saved_by_itself(visit: Opened, site: Site) -> None:
    page = visit("admin", "settings")
    setting = page.get_by_role("group", name="Lifetime of a sign-in code")
    field = setting.get_by_role("textbox")
    field.fill("5")
    field.press("Enter")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(setting).to_contain_text("must be between 60 and 3600")
    field.fill("300")
    field.press("Enter")
    expect(setting).to_contain_text(f"by {site.people['admin'].email}")
    keys = page.get_by_role("group", name="Redacted payload keys")
    keys.get_by_role("textbox").fill("password\ntoken")
    keys.get_by_role("button", name="Save").click()
    expect(keys.get_by_role("button", name="Use the default")).to_be_visible()
    values = {row["key"]: row["value"] for row in site.api.get("/settings")["settings"]}
    assert values["otp_ttl_secs"] == 300
    assert values["redaction.payload_keys"] == ["password", "token"]
    keys.get_by_role("button", name="Use the default").click()
    expect(keys.get_by_role("textbox")).to_have_value("")


def test_a_private_webhook_is_warned_of(visit: Opened) -> None:
    page = visit("admin", "settings")
    setting = page.get_by_role("group", name="Webhook", exact=True)
    warning = setting.get_by_text("sets WEBHOOK_ALLOW_PRIVATE=1")
    field = setting.get_by_role("textbox")
    field.fill("https://10.0.0.7/alerts")
    field.press("Enter")
    expect(warning).to_be_visible()
    setting.get_by_role("button", name="Use the default").click()
    expect(warning).to_have_count(0)


def test_a_model_shows_its_window_while_it_is_typed(visit: Opened) -> None:
    page = visit("admin", "model-windows", viewport=NARROW)
    page.get_by_role("textbox", name="Try a model").fill("gpt-4o")
    expect(page.get_by_text("tokens, from the built-in table.")).to_be_visible()
    page.get_by_role("button", name="New window").click()
    page.get_by_role("textbox", name="Model", exact=True).fill("house-model")
    page.get_by_role("textbox", name="Window (tokens)").fill("32k")
    page.get_by_role("button", name="Save").click()
    # Until the dialog is gone, text goes to its fields.
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("textbox", name="Try a model").fill("house-model")
    expect(page.get_by_text("32,000 tokens, set by this organization.")).to_be_visible()
    page.get_by_role("button", name="Actions of house-model").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="No windows yet")).to_be_visible()


def test_a_dirty_form_asks_before_it_is_left(visit: Opened) -> None:
    page = visit("admin", "keys")
    page.get_by_role("button", name="New key").click()
    page.get_by_role("textbox", name="Name").fill("half done")
    page.keyboard.press("Escape")
    question = page.get_by_role("dialog", name="Leave without saving?")
    question.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("textbox", name="Name")).to_have_value("half done")


def test_the_audit_log_shows_a_change_with_its_values(visit: Opened, site: Site) -> None:
    path, body = "/settings/retention.audit_log_days", b'{"value": 365}'
    status, _ = site.api.request("PUT", path, body, Content_Type="application/json")
    assert status == 200
    page = visit("admin", "audit-log?noun=setting")
    table = page.get_by_role("table", name="Audit log")
    row = table.get_by_role("row", name="retention.audit_log_days").first
    expect(row).to_contain_text("setting.update")
    row.get_by_role("link").click()
    dialog = page.get_by_role("dialog", name="setting.update")
    change = dialog.get_by_role("table", name="Changes").get_by_role("row", name="value")
    expect(change.get_by_role("cell")).to_have_text(["value", "730", "365"])
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Export").click()
    lines = downloading.value.path().read_text().splitlines()
    assert {json.loads(line)["noun"] for line in lines} == {"setting"}
    page.get_by_role("button", name="Remove About: setting").click()
    expect(table.get_by_role("row", name="audit_log.export")).to_have_count(1)
