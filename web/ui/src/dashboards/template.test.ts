import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlaceBody, QueryRow } from "../api/types";
import { settled } from "./model";
import { COSTS, freeName, RANGE_PARAMS, savedFor } from "./template";

test("the tiles of the template have their places", () => {
  const places = COSTS.map(({ name, tile }) => ({ id: name, ...tile })) as unknown as PlaceBody[];
  for (const place of settled(places)) {
    const { pos_x, pos_y } = places.find(({ id }) => id === place.id)!;
    assert.deepEqual([place.pos_x, place.pos_y], [pos_x, pos_y], place.id);
  }
});

test("a query is saved once, and under a name of its own", () => {
  const query = { name: "Cost per day", sql_text: COSTS[0]!.sql, params: RANGE_PARAMS } as unknown as QueryRow;
  assert.equal(savedFor(COSTS[0]!.sql, [query]), query);
  assert.equal(savedFor(COSTS[0]!.sql, [{ ...query, params: [] }]), undefined);
  assert.equal(savedFor("SELECT 1", [query]), undefined);
  assert.equal(freeName("Cost per day", [query, { name: "Cost per day 2" }]), "Cost per day 3");
  assert.equal(freeName("Cost per user", [query]), "Cost per user");
});
