import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf } from "./csv";

test("cells are quoted where they have to be", () => {
  assert.equal(
    csvOf(
      ["a", "b"],
      [
        ['say "hi"', "x,y"],
        [null, 1.5],
      ],
    ),
    'a,b\r\n"say ""hi""","x,y"\r\n,1.5\r\n',
  );
});

test("texts do not become formulas, numbers stay numbers", () => {
  assert.equal(csvOf(["a"], [["=1+1"], ["@x"], ["-5"], [-5]]), "a\r\n'=1+1\r\n'@x\r\n'-5\r\n-5\r\n");
});
