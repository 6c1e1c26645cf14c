import assert from "node:assert/strict";
import { test } from "node:test";
import { exactMoney, money, moneyWords, rounded } from "./money";

test("amounts are as exact as their size asks for", () => {
  const amounts: [number, string][] = [
    [0, "$0"],
    [0.03124, "$0.0312"],
    [0.5, "$0.50"],
    [0.625, "$0.625"],
    [0.000_031_2, "$0.000031"],
    [0.000_000_02, "$0.00000002"],
    [0.001, "$0.001"],
    [0.211_98, "$0.2120"],
    [0.99994, "$0.9999"],
    [0.99996, "$1.00"],
    [41.2, "$41.20"],
    [1234.567, "$1,234.57"],
    [9999.994, "$9,999.99"],
    [9999.996, "$10.0k"],
    [12_400, "$12.4k"],
    [3_200_000, "$3.2M"],
    [-0.0312, "−$0.0312"],
    [-41.2, "−$41.20"],
  ];
  for (const [amount, text] of amounts) assert.equal(money(amount), text);
});

test("the exact amount has no exponent, and no digits that nobody sent", () => {
  assert.equal(exactMoney(0.031245), "$0.031245");
  assert.equal(exactMoney(0.000_000_02), "$0.00000002");
  assert.equal(exactMoney(12_400.1), "$12,400.1");
  assert.equal(exactMoney(-1234), "−$1,234");
  assert.equal(exactMoney(0), "$0");
});

test("sums have the digits of their parts", () => {
  assert.equal(exactMoney(rounded(0.1 + 0.2)), "$0.3");
});

test("calls without a price make a lower bound, and no price is no $0", () => {
  assert.deepEqual(moneyWords(3.1, 2), { text: "≥ $3.10", title: "2 calls without a price" });
  assert.deepEqual(moneyWords(3.1), { text: "$3.10", title: "$3.1" });
  assert.deepEqual(moneyWords(null, 1), { text: "–", title: "1 call without a price" });
  assert.deepEqual(moneyWords(null), { text: "–", title: undefined });
  assert.deepEqual(moneyWords(0), { text: "$0", title: "$0" });
});
