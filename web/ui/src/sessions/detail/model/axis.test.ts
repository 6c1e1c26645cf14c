import assert from "node:assert/strict";
import { test } from "node:test";
import { buildAxis, clock, fromAxis, ticks, toAxis } from "./axis";
import { elapsed, nextPoll, silence, stateOf } from "./live";

const starts = Float64Array.of(0, 5_000, 100_000);
const ends = Float64Array.of(1_000, 9_000, 101_000);

test("a gap of more than 30 s becomes a break, shorter ones stay", () => {
  const axis = buildAxis(starts, ends, 120_000);
  assert.deepEqual(
    axis.gaps.map((gap) => [gap.from, gap.to]),
    [[9_000, 100_000]],
  );
  assert.ok(axis.length < 31_000);
  assert.equal(buildAxis(starts, ends, 120_000, false).length, 120_000);
  assert.equal(buildAxis(new Float64Array(), new Float64Array(), 1).length, 1);
});

test("places on the folded axis lead back to their moments", () => {
  const axis = buildAxis(starts, ends, 120_000);
  for (const ms of [0, 4_000, 9_000, 50_000, 99_999, 100_000, 119_000]) {
    assert.ok(Math.abs(fromAxis(axis, toAxis(axis, ms)) - ms) < 1e-6, String(ms));
  }
  assert.ok(toAxis(axis, 120_000) <= axis.length + 1e-6);
});

test("ticks are round moments outside of breaks", () => {
  const axis = buildAxis(starts, ends, 120_000);
  const at = ticks(axis, 0, axis.length, 10);
  assert.ok(at.length > 2 && at.length <= 12);
  assert.ok(at.every((ms) => ms % 1000 === 0 && (ms <= 9_000 || ms >= 100_000)));
  assert.deepEqual(ticks(buildAxis(starts, ends, 10_000, false), 0, 10_000, 5), [0, 2000, 4000, 6000, 8000, 10_000]);
});

test("labels of the axis", () => {
  assert.deepEqual(
    [clock(0), clock(125_000), clock(3_725_000), clock(1_250, 100)],
    ["0:00", "2:05", "1:02:05", "0:01.250"],
  );
});

test("a running session is asked each second, a quiet or hidden one up to each 10 s, an ended one for a minute", () => {
  assert.deepEqual(
    [nextPoll(0, false, null), nextPoll(20_000, false, null), nextPoll(500_000, false, null)],
    [1000, 2000, 10_000],
  );
  assert.equal(nextPoll(0, true, null), 10_000);
  assert.equal(nextPoll(0, false, 59_000), 1000);
  assert.equal(nextPoll(0, false, 61_000), null);
});

test("states and silence", () => {
  assert.deepEqual(
    [stateOf(1, 0, 1e9), stateOf(null, 0, 299_000), stateOf(null, 0, 300_000)],
    ["ended", "running", "idle"],
  );
  assert.equal(silence(9_999, 2), "");
  assert.equal(silence(42_300, 2), "Silent for 42 s, 2 calls open");
  assert.equal(silence(10_000, 0), "Silent for 10 s");
  assert.deepEqual([elapsed(59_999), elapsed(125_000), elapsed(3_900_000)], ["59 s", "2 m 05 s", "1 h 05 m"]);
});
