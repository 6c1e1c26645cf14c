import assert from "node:assert/strict";
import { test } from "node:test";
import { areaPath, linePath, stack } from "./paths";

const same = (value: number) => value;

test("a line breaks where nothing is known", () => {
  assert.equal(
    linePath([0, 1, 2, 3, 4], [1, 2, null, 3, null], same, same),
    "M0.0 1.0L1.0 2.0M3.0 3.0m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0m2 0",
  );
});

test("series are put on top of each other", () => {
  const layers = stack([{ values: [1, 2] }, { values: [3, null] }]);
  assert.deepEqual(layers, [
    [
      [0, 1],
      [0, 2],
    ],
    [
      [1, 4],
      [2, null],
    ],
  ]);
});

test("an area closes before a gap", () => {
  const path = areaPath(
    [0, 1, 2],
    [
      [0, 1],
      [0, 1],
      [0, null],
    ],
    same,
    same,
  );
  assert.equal(path, "M0.0 1.0L1.0 1.0L1.0 0.0L0.0 0.0Z");
});
