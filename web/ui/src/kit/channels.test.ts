import assert from "node:assert/strict";
import { test } from "node:test";
import { channelDraft, channelsOf } from "./channels";

test("what the form does not show of a channel is kept", () => {
  const channels = [{ kind: "webhook", url_setting_key: "alerts.webhook_default_url" }, { kind: "email", recipients: ["ada@example.com"] }, { kind: "email", recipients: ["bob@example.com"] }];
  const draft = channelDraft(channels);
  assert.deepEqual(channelsOf(draft), channels);
  assert.deepEqual(channelsOf({ ...draft, channels: ["dashboard", "webhook"] }), [{ kind: "dashboard" }, channels[0]]);
  assert.deepEqual(channelsOf({ ...draft, channels: ["email"], recipients: [] }), [{ kind: "email" }, channels[2]]);
});
