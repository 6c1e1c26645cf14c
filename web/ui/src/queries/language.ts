// SQL as ClickHouse writes it: its words for the highlighting, and what can be completed.
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { StreamLanguage, type StringStream } from "@codemirror/language";
import type { PublishedTables } from "../api/types";

const KEYWORDS = (
  "SELECT DISTINCT FROM WHERE PREWHERE GROUP ORDER BY HAVING LIMIT OFFSET WITH AS AND OR NOT IN IS NULL LIKE ILIKE " +
  "BETWEEN CASE WHEN THEN ELSE END JOIN INNER LEFT RIGHT FULL CROSS ASOF ANY ALL ON USING ARRAY UNION INTERSECT " +
  "EXCEPT ASC DESC NULLS FIRST LAST OVER PARTITION ROWS RANGE PRECEDING FOLLOWING UNBOUNDED CURRENT ROW INTERVAL " +
  "CAST FINAL TOTALS ROLLUP CUBE FILL STEP TRUE FALSE SECOND MINUTE HOUR DAY WEEK MONTH YEAR"
).split(" ");

const FUNCTIONS = (
  "count countIf sum sumIf avg avgIf min max any anyLast argMin argMax uniq uniqExact quantile quantiles median " +
  "stddevPop groupArray groupUniqArray topK corr round floor ceil abs sqrt log exp least greatest if multiIf " +
  "coalesce ifNull nullIf isNull isNotNull toString toInt64 toFloat64 toDate toDateTime toDateTime64 " +
  "toStartOfMinute toStartOfFiveMinutes toStartOfFifteenMinutes toStartOfHour toStartOfDay toStartOfWeek " +
  "toStartOfMonth toStartOfInterval toHour toDayOfWeek dateDiff dateTrunc formatDateTime now today lower upper " +
  "length substring position concat replaceAll splitByChar startsWith endsWith match extract JSONExtractString " +
  "JSONExtractInt JSONExtractFloat JSONExtractBool JSONExtractRaw JSONHas JSONLength mapContains mapKeys mapValues " +
  "arrayJoin arrayMap arrayFilter arraySum has indexOf tuple row_number rank lagInFrame leadInFrame numbers"
).split(" ");

const WORDS: ReadonlySet<string> = new Set(KEYWORDS);

interface State {
  /** The text, quoted name or comment that goes on in the next line. */
  inside: "" | "comment" | "'" | '"' | "`";
}

/** Reads to the end of what is open, or of the line. */
function rest(stream: StringStream, state: State): string {
  const kind = state.inside === "comment" ? "comment" : state.inside === "'" ? "string" : "variableName";
  while (!stream.eol()) {
    if (state.inside === "comment" ? stream.match("*/") : stream.eat(state.inside)) {
      state.inside = "";
      break;
    }
    if (stream.next() === "\\" && state.inside !== "comment") stream.next();
  }
  return kind;
}

/** The kind of the next token, as CodeMirror names it; null for signs. */
function token(stream: StringStream, state: State): string | null {
  if (state.inside) return rest(stream, state);
  if (stream.eatSpace()) return null;
  if (stream.match("--")) {
    stream.skipToEnd();
    return "comment";
  }
  const quote = stream.match("/*") ? "comment" : (stream.eat(/['"`]/) as State["inside"] | undefined);
  if (quote) {
    state.inside = quote;
    return rest(stream, state);
  }
  if (stream.match(/^\$\d+/)) return "variableName.special";
  if (stream.match(/^\d[\d.]*(?:e[+-]?\d+)?/i)) return "number";
  const word = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
  if (!word) {
    stream.next();
    return null;
  }
  const called = stream.match(/^\s*\(/, false) !== null;
  // `any` and `left` are both.
  if (WORDS.has(word[0].toUpperCase()) && !(called && FUNCTIONS.includes(word[0]))) return "keyword";
  return called ? "variableName.function" : "variableName";
}

/** Enough of SQL to colour it. A parser with a grammar would add a sixth to the page for that. */
export const language = StreamLanguage.define<State>({
  name: "sql",
  startState: () => ({ inside: "" }),
  token,
  languageData: {
    commentTokens: { line: "--", block: { open: "/*", close: "*/" } },
    closeBrackets: { brackets: ["(", "[", "'", '"', "`"] },
  },
});

/** Everything that can be completed: columns with their types first, then tables, functions, keywords. */
export function completionsOf({ tables }: PublishedTables): Completion[] {
  const columns = new Map<string, Completion>();
  for (const { columns: listed } of tables)
    for (const { name, type } of listed)
      if (!columns.has(name)) columns.set(name, { label: name, detail: type, type: "property", boost: 3 });
  return [
    ...columns.values(),
    ...tables.map(({ name }): Completion => ({ label: name, detail: "table", type: "class", boost: 2 })),
    ...FUNCTIONS.map((label): Completion => ({ label, detail: "function", type: "function", boost: 1 })),
    ...KEYWORDS.map((label): Completion => ({ label, type: "keyword" })),
  ];
}

/** Completes the word before the cursor; after a table and a dot only that table's columns. */
export function completer(
  schema: () => PublishedTables | undefined,
): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const known = schema();
    const word = context.matchBefore(/[\w.]+/);
    if (!known || (!word && !context.explicit)) return null;
    // The list would cover the results of a statement that was run meanwhile.
    if (!context.explicit && context.view?.hasFocus === false) return null;
    if (/^\d/.test(word?.text ?? "")) return null;
    const dot = word?.text.lastIndexOf(".") ?? -1;
    const table =
      dot < 0 ? undefined : known.tables.find(({ name }) => word!.text.slice(0, dot).split(".").at(-1) === name);
    const options = table
      ? completionsOf({ ...known, tables: [table] }).filter(({ type }) => type === "property")
      : completionsOf(known);
    return { from: (word?.from ?? context.pos) + dot + 1, options, validFor: /^\w*$/ };
  };
}
