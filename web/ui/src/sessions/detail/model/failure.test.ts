import assert from "node:assert/strict";
import { test } from "node:test";
import { endsWithLastFrame, failureOf, traceOf } from "./failure";

const PYTHON =
  'Traceback (most recent call last):\n  File "a.py", line 1, in book\n' +
  '    raise ValueError("no seat")\nValueError: no seat';
const NODE = "Error: no seat\n    at book (/app/book.js:3:9)\n    at main (/app/main.js:1:1)";
const JAVA =
  "java.lang.IllegalStateException: no seat\n\tat app.Book.run(Book.java:3)\n\tat app.Main.main(Main.java:1)";
const GO = "goroutine 1 [running]:\nmain.book()\n\t/app/book.go:3 +0x1d";
const DOTNET = "System.InvalidOperationException: no seat\n   at App.Book.Run() in /app/Book.cs:line 3";
const RUBY = "app/book.rb:3:in `book': no seat (RuntimeError)\n\tfrom app/main.rb:1:in `<main>'";

test("traces of every language are lines, wherever they stand", () => {
  for (const trace of [PYTHON, NODE, JAVA, GO, DOTNET, RUBY]) {
    assert.equal(traceOf({ traceback: trace }), trace);
    assert.equal(traceOf({ error: { message: "no seat", stack: trace } }), trace);
    assert.equal(traceOf({ "exception.stacktrace": trace.replaceAll("\n", "\\n") }), trace);
    assert.equal(endsWithLastFrame(trace), trace === PYTHON);
  }
  assert.equal(traceOf({ error: "no seat" }), "");
  assert.equal(traceOf(undefined), "");
});

test("the message is that of the error, else of the event", () => {
  assert.equal(failureOf({ error: { message: "no seat", stack: NODE } }), "no seat");
  assert.equal(failureOf({ error: "no seat", message: "other" }), "no seat");
  assert.equal(failureOf({ message: "no seat" }), "no seat");
});
