import assert from "node:assert/strict";
import { test } from "node:test";
import { encode, newSecret } from "./secret";

test("bytes are written as base64url without padding", () => {
  for (const length of [0, 1, 2, 3, 31, 32]) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 71 + 250) % 256);
    assert.equal(encode(bytes), Buffer.from(bytes).toString("base64url"));
  }
});

test("secrets are 32 random bytes, and safe in a header and a shell", () => {
  const secrets = Array.from({ length: 50 }, () => newSecret());
  assert.equal(new Set(secrets).size, 50);
  for (const secret of secrets) assert.match(secret, /^wp_[\w-]{43}$/);
});
