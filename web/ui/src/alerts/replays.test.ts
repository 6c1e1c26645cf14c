import assert from "node:assert/strict";
import { test } from "node:test";
import type { AlertPreview } from "../api/types";
import { breachesOf, replaysOf, resultText } from "./replays";

const TS = "2026-11-02T00:00:00Z";

function preview(changes: object = {}): AlertPreview {
  const points = [null, true, false, true].map((breach) => ({ ts: TS, value: 1, breach }));
  return { points, incidents: [], replayed: true, reason: null, groups: null, ...changes } as unknown as AlertPreview;
}

test("a preview draws the rule, or each of its groups", () => {
  const drawn = (groups: object[] | null) => replaysOf(preview({ groups })).map(({ name }) => name);
  assert.deepEqual(drawn(null), [null]);
  assert.deepEqual(drawn([]), []);
  const { groups: _, ...replay } = preview({ replayed: false });
  const groups = [{ group: { user_id: "zoe" }, ...replay }];
  assert.deepEqual(replaysOf(preview({ groups, points: [] })), [{ name: "user zoe", replay }]);
});

test("a preview says what would have happened", () => {
  const incident = { opened_at: TS, resolved_at: null, breaches: 1 };
  assert.deepEqual(breachesOf(preview()), [1, 3]);
  assert.deepEqual(resultText(preview({ incidents: [{ ...incident, resolved_at: TS }] })), {
    result: "Would have opened 1 incident",
    often: "2 breaches in 4 evaluations.",
  });
  assert.match(resultText(preview({ incidents: [incident] })).often!, /evaluations\. The last incident .* open\.$/);
  assert.deepEqual(resultText(preview({ replayed: false, reason: "only now" })), { result: "only now", often: null });
});
