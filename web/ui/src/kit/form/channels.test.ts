import assert from "node:assert/strict";
import { test } from "node:test";
import type { Channel } from "../../api/types";
import { channelDraft, channelsOf, settingFields } from "./channels";

test("what the form does not show of a channel is kept", () => {
  const channels: Channel[] = [
    { kind: "webhook", url_setting_key: "alerts.webhook_default_url" },
    { kind: "email", recipients: ["ada@example.com"] },
    { kind: "email", recipients: ["bob@example.com"] },
  ];
  const draft = channelDraft(channels);
  assert.deepEqual(channelsOf(draft), channels);
  assert.deepEqual(channelsOf({ ...draft, channels: ["dashboard", "webhook"] }), [{ kind: "dashboard" }, channels[0]]);
  assert.deepEqual(channelsOf({ ...draft, channels: ["email"], recipients: [] }), [{ kind: "email" }, channels[2]]);
});

const SLACK = "alerts.slack_default_webhook";
const URL_KEY = "alerts.webhook_default_url";
const SETTINGS = [
  { key: SLACK, kind: "url", title: "Slack webhook" },
  { key: URL_KEY, kind: "url", title: "Webhook" },
  { key: "alerts.webhook_signing_secret", kind: "secret", title: "Webhook signing secret" },
  { key: "otp_ttl_secs", kind: "positive_int", title: "Lifetime" },
];

test("a channel names the settings that were chosen, and no others", () => {
  const draft = channelDraft([{ kind: "dashboard" }, { kind: "webhook", url_setting_key: SLACK }, { kind: "webhook" }]);
  assert.deepEqual([draft.webhook_setting_key, draft.url_setting_key, draft.secret_setting_key], ["", SLACK, ""]);
  assert.deepEqual(channelsOf({ ...draft, url_setting_key: URL_KEY, secret_setting_key: "s" })[1], {
    kind: "webhook",
    url_setting_key: URL_KEY,
    secret_setting_key: "s",
  });
  assert.deepEqual(channelsOf({ ...draft, url_setting_key: "" }), [
    { kind: "dashboard" },
    { kind: "webhook" },
    { kind: "webhook" },
  ]);
  assert.deepEqual(channelsOf({ ...draft, channels: ["slack"], webhook_setting_key: URL_KEY }), [
    { kind: "slack", webhook_setting_key: URL_KEY },
  ]);
});

test("a setting is chosen where there is more than one of its kind", () => {
  const fields = (draft: Parameters<typeof settingFields>[0]) =>
    settingFields(draft, SETTINGS).map(({ name, field, choices }) => [name, field, choices.map(({ value }) => value)]);
  const draft = channelDraft([{ kind: "dashboard" }, { kind: "slack" }, { kind: "webhook" }]);
  assert.deepEqual(fields(draft), [
    ["webhook_setting_key", "channels.1.webhook_setting_key", [SLACK, URL_KEY]],
    ["url_setting_key", "channels.2.url_setting_key", [SLACK, URL_KEY]],
  ]);
  assert.deepEqual(fields({ ...draft, channels: ["dashboard", "email"] }), []);
  // What is named shows, also to those who may not read the settings.
  assert.deepEqual(
    settingFields(channelDraft([{ kind: "webhook", secret_setting_key: "s" }]), []).map(({ name }) => name),
    ["secret_setting_key"],
  );
});
