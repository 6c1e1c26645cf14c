import assert from "node:assert/strict";
import { test } from "node:test";
import { queueOf } from "./queue";

test("no more than three tasks run at once, and failures free their place", async () => {
  const run = queueOf(3);
  let running = 0;
  let most = 0;
  const task = (fails: boolean) => async () => {
    most = Math.max(most, ++running);
    await new Promise((done) => setTimeout(done, 1));
    running--;
    if (fails) throw new Error("refused");
  };
  const results = await Promise.allSettled(Array.from({ length: 10 }, (_, index) => run(task(index % 2 === 0))));
  assert.equal(most, 3);
  assert.equal(results.filter(({ status }) => status === "rejected").length, 5);
});
