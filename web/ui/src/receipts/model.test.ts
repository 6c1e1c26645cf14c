import assert from "node:assert/strict";
import { test } from "node:test";
import type { Receipt } from "../api/types";
import { lossOf, warnedOf } from "./model";

const receipt = (given: Partial<Receipt>) =>
  ({ skipped: 0, dead_lettered: 0, refused: 0, warnings: 0, ...given }) as Receipt;

test("losses are named one by one, and only those that happened", () => {
  assert.equal(lossOf(receipt({})), "");
  assert.equal(lossOf(receipt({ skipped: 2, refused: 1 })), "2 skipped, 1 request refused");
  assert.equal(lossOf(receipt({ warnings: 1 })), "");
  assert.equal(lossOf(receipt({ dead_lettered: 3, refused: 4 })), "3 could not be stored, 4 requests refused");
});

test("warnings are about events that are stored", () => {
  assert.equal(warnedOf(receipt({ skipped: 1 })), "");
  assert.equal(warnedOf(receipt({ warnings: 1 })), "1 warning");
  assert.equal(warnedOf(receipt({ warnings: 2 })), "2 warnings");
});
