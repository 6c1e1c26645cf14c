import assert from "node:assert/strict";
import { test } from "node:test";
import {
  boundsOf,
  clockNote,
  formatInput,
  formatMoment,
  formatTick,
  offsetAt,
  parseInput,
  rangeLabel,
  rangeOf,
  zoneName,
} from "./time";

const BERLIN = "Europe/Berlin";
const at = (text: string) => parseInput(text, BERLIN)?.toISOString();

test("a moment is shown in its zone", () => {
  const date = new Date("2026-11-02T07:13:33.500Z");
  assert.equal(formatMoment(date, BERLIN, date), "02 Nov 08:13:33");
  assert.equal(formatMoment(date, "UTC", date), "02 Nov 07:13:33");
  assert.equal(formatMoment(new Date("2026-09-05T00:00:00Z"), "UTC", date), "05 Sep 00:00:00");
  assert.equal(formatMoment(new Date("2026-12-31T23:30:00Z"), BERLIN, date), "01 Jan 2027 00:30:00");
});

test("typed times are read in the zone, also around the changes of the clocks", () => {
  assert.equal(at("2026-11-02 08:13:33"), "2026-11-02T07:13:33.000Z");
  assert.equal(at("2026-07-01"), "2026-06-30T22:00:00.000Z");
  // 02:30 is skipped on 29 March, and comes twice on 25 October.
  assert.equal(at("2026-03-29 02:30"), "2026-03-29T01:30:00.000Z");
  assert.equal(at("2026-10-25 02:30"), "2026-10-25T00:30:00.000Z");
  assert.equal(at("2026-11-02T08:00:00+05:00"), "2026-11-02T03:00:00.000Z");
  for (const wrong of ["", "now", "2026-02-30", "2026-11-02 25:00", "2026-11-02T08:00:00.000"])
    assert.equal(at(wrong), undefined, wrong);
});

test("a time that the clocks skip or repeat has a note", () => {
  assert.equal(clockNote("2026-03-29 02:30", BERLIN), "The clocks skip this time. 2026-03-29 03:30:00 counts.");
  assert.equal(
    clockNote("2026-10-25 02:30", BERLIN),
    "The clocks show this time twice. The first counts; the second is 2026-10-25T01:30:00Z.",
  );
  assert.equal(at("2026-10-25T01:30:00Z"), "2026-10-25T01:30:00.000Z");
  for (const plain of ["2026-10-25 03:00", "2026-10-25 01:59:59", "2026-03-29 03:00", "", "now"])
    assert.equal(clockNote(plain, BERLIN), null, plain);
  assert.equal(clockNote("2026-10-25 02:30", "UTC"), null);
});

test("what is shown in a text box is read back", () => {
  for (const zone of [BERLIN, "UTC", "America/St_Johns", "Asia/Kathmandu"]) {
    const date = new Date("2026-05-17T23:59:01Z");
    assert.deepEqual(parseInput(formatInput(date, zone), zone), date);
  }
  assert.equal(offsetAt(Date.UTC(2026, 0, 1), "Asia/Kathmandu"), 345 * 60_000);
});

test("a range is a preset or a span", () => {
  const read = (text: string) => rangeOf(new URLSearchParams(text), "24h");
  assert.equal(read("").preset, "24h");
  assert.equal(read("t=7d").preset, "7d");
  assert.equal(read("t=nonsense").preset, "24h");
  const span = read("t=7d&from=2026-11-01T00:00:00Z&to=nonsense");
  assert.deepEqual(span, { preset: null, from: "2026-11-01T00:00:00.000Z", to: null });
  assert.equal(rangeLabel(span, BERLIN), "Since 01 Nov 01:00:00");
  const now = Date.UTC(2026, 10, 2);
  assert.deepEqual(boundsOf(read(""), now), { from: "2026-11-01T00:00:00.000Z", to: null });
  assert.deepEqual(boundsOf(read("t=all"), now), { from: null, to: null });
});

test("unknown zones count as local", () => {
  assert.equal(zoneName("Nowhere/Never"), zoneName("local"));
  assert.equal(zoneName("UTC"), "UTC");
});

test("ticks say what changes between them", () => {
  const date = new Date("2026-11-02T07:15:30Z");
  assert.equal(formatTick(date, "UTC", 15_000), "07:15:30");
  assert.equal(formatTick(date, "UTC", 900_000), "07:15");
  assert.equal(formatTick(date, "UTC", 86_400_000), "02 Nov");
});
