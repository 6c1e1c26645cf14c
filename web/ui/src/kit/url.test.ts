import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, joinValues, ownPath, parsePlace, pathOf, searchOf, splitValues, withAttributes } from "./url";

test("a path of any ids is taken apart as it was put together", () => {
  const path = pathOf("acme", "sessions", "a/b?c#d%");
  assert.equal(path, "/o/acme/sessions/a%2Fb%3Fc%23d%25");
  const { org, segments } = parsePlace(path, "?e=7");
  assert.deepEqual([org, segments], ["acme", ["sessions", "a/b?c#d%"]]);
});

test("pages without an organization have none", () => {
  assert.deepEqual(parsePlace("/sign-in", "").base, "/sign-in");
  assert.equal(parsePlace("/", "").org, null);
});

test("values with commas survive", () => {
  const values = ["a,b", "c"];
  assert.equal(joinValues(values), "a\\,b,c");
  assert.deepEqual(splitValues(joinValues(values)), values);
  assert.deepEqual(splitValues(null), []);
});

test("changes set and remove parameters, and the query stays readable", () => {
  const query = changed(new URLSearchParams("t=24h&agent_id=x"), { t: null, environment: ["a", "b"] });
  assert.equal(searchOf(query), "?agent_id=x&environment=a,b");
});

test("the filter of attributes stands for those of the query", () => {
  const query = new URLSearchParams("attr.plan=pro&t=24h&attr.a:b/c=x");
  assert.deepEqual(withAttributes(["user_id", "attr", "tag"], query), ["user_id", "attr.plan", "attr.a:b/c", "tag"]);
  assert.deepEqual(withAttributes(["user_id"], query), ["user_id"]);
});

test("next leads to own paths only", () => {
  assert.equal(ownPath("/o/acme/sessions?t=1h"), "/o/acme/sessions?t=1h");
  const foreign = [
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
    "",
    null,
  ];
  const noPages = ["/v1/sessions/a/export", "/api/auth/session", "/ui/main.js", "/sign-in?next=/profile", "/o"];
  for (const other of [...foreign, ...noPages]) assert.equal(ownPath(other), "/");
});
