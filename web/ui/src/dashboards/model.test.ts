import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlaceBody, QueryRow } from "../api/types";
import { boundTyped, fieldsOf, moved, settled, stepped } from "./model";

const place = (id: string, pos_x: number, pos_y: number, pos_w = 6, pos_h = 4): PlaceBody => ({
  id,
  pos_x,
  pos_y,
  pos_w,
  pos_h,
});
const spots = (places: PlaceBody[]) => Object.fromEntries(places.map(({ id, pos_x, pos_y }) => [id, [pos_x, pos_y]]));

test("places do not overlap, and leave no gap above them", () => {
  assert.deepEqual(spots(settled([place("a", 0, 0), place("b", 0, 2), place("c", 6, 9)])), {
    a: [0, 0],
    b: [0, 4],
    c: [6, 0],
  });
});

test("a tile that is moved makes room for itself", () => {
  const places = [place("a", 0, 0), place("b", 6, 0)];
  assert.deepEqual(spots(moved(places, "b", { x: -6 })), { b: [0, 0], a: [0, 4] });
});

test("tiles stay on the grid", () => {
  const places = [place("a", 0, 0)];
  assert.deepEqual(spots(moved(places, "a", { x: 50, y: -3 })), { a: [6, 0] });
  assert.equal(moved(places, "a", { w: 50 })[0]!.pos_w, 12);
  assert.equal(moved(places, "a", { w: -50, h: -50 })[0]!.pos_h, 2);
});

const query = {
  sql_text: "SELECT $1, $2, $3",
  params: [{ name: "from", value: "" }, { name: "to" }, { name: "agent", value: "a" }],
} as unknown as QueryRow;

test("keys move a tile past a taller one", () => {
  const places = [place("a", 0, 0), place("b", 0, 4)];
  assert.deepEqual(spots(stepped(places, "a", { y: 1 })), { b: [0, 0], a: [0, 4] });
  assert.deepEqual(spots(stepped(places, "b", { y: -1 })), { b: [0, 0], a: [0, 4] });
  assert.deepEqual(spots(stepped(places, "b", { x: 1 })), { a: [0, 0], b: [1, 4] });
  assert.deepEqual(spots(stepped(places, "a", { x: -1 })), spots(places));
  assert.equal(stepped(places, "a", { w: 1 })[0]!.pos_w, 7);
  const wide = [place("a", 0, 0, 3, 3), place("b", 3, 0, 4, 5), place("c", 0, 5)];
  assert.deepEqual(spots(stepped(wide, "a", { y: 1 })), { b: [3, 0], c: [0, 5], a: [0, 9] });
});

test("the range fills from and to, and a tile's own values replace the saved ones", () => {
  const bounds = { from: "2026-11-02T00:00:00.000Z", to: null };
  assert.deepEqual(boundTyped(query, {}, bounds, 0), {
    1: "2026-11-02T00:00:00.000Z",
    2: "1970-01-01T00:00:00.000Z",
    3: "a",
  });
  assert.equal(boundTyped(query, { 3: "7", 1: "never" }, bounds, 0)[3], "7");
  assert.equal(boundTyped(query, { agent: "7" }, bounds, 0)[3], "7");
  assert.equal(boundTyped(query, { 3: "7", 1: "never" }, bounds, 0)[1], bounds.from);
});

test("the fields of another client are not trusted", () => {
  assert.deepEqual(fieldsOf({ x: 1, y: ["a", 2], series: "s" }), { y: ["a"], series: "s" });
});
