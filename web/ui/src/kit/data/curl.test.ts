import assert from "node:assert/strict";
import { test } from "node:test";
import { curlOf, requestOf } from "./curl";

test("a read is one line without a secret", () => {
  const line = curlOf({ route: "GET /sessions", query: { environment: "a,b", limit: 50 } }, "acme", "http://x");
  assert.equal(
    line,
    'curl -sS -H "Authorization: Bearer $WATCHPOST_KEY" ' +
      "-H 'X-Service-Org: acme' 'http://x/v1/sessions?environment=a%2Cb&limit=50'",
  );
});

test("a write carries its body, and quotes survive the shell", () => {
  const line = curlOf({ route: "POST /queries/run", body: { sql: "SELECT 'a'" } }, null, "http://x");
  assert.ok(line.includes(`-X POST`));
  assert.ok(line.includes(`-d '{"sql":"SELECT '\\''a'\\''"}'`));
  assert.equal(line.includes("\n"), false);
});

test("ids in a path are encoded", () => {
  const line = curlOf({ route: "GET /sessions/{session_id}", path: { session_id: "a/b" } }, null, "http://x");
  assert.ok(line.endsWith(" http://x/v1/sessions/a%2Fb"));
});

test("a request below /v1, as the SQL page takes it", () => {
  const path = { session_id: "a/b {c}" };
  const query = { environment: "o'neil,b", errored: true, cursor: null };
  assert.equal(
    requestOf({ route: "GET /sessions/{session_id}/outline", path, query }),
    "/sessions/a%2Fb%20%7Bc%7D/outline?environment=o%27neil%2Cb&errored=true",
  );
});
