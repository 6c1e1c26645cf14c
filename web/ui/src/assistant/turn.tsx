import { useState } from "preact/hooks";
import { Failed } from "../kit/data/states";
import { Icon } from "../kit/icon";
import { SqlLink } from "../kit/list/sql-link";
import { announce } from "../kit/overlay/announce";
import { duration } from "../kit/text/formats";
import { Markdown } from "../kit/text/rendered";
import { Text } from "../kit/text/text";
import { approve } from "./api";
import type { Artifact, Part, ToolRun } from "./frames";
import type { Turn } from "./thread";

/** A question and its answer, as far as it has come. */
export function TurnView({ turn, org, onRetry }: { turn: Turn; org: string; onRetry: () => void }) {
  const { parts, error, ended } = turn.answer;
  return (
    <article class="assistant-turn" aria-label={`Question: ${turn.question.slice(0, 80)}`} aria-busy={!ended}>
      <p class="assistant-question">
        <Text>{turn.question}</Text>
      </p>
      {parts.map((part) => (
        <PartView part={part} org={org} />
      ))}
      {!ended && <p class="assistant-working">Working…</p>}
      {error !== null && (
        <p class="assistant-failed" role="alert">
          {error}{" "}
          <button type="button" class="button ghost" onClick={onRetry}>
            Ask again
          </button>
        </p>
      )}
    </article>
  );
}

function PartView({ part, org }: { part: Part; org: string }) {
  if ("run" in part) return <RunView run={part.run} />;
  if ("artifact" in part) return <Draft artifact={part.artifact} />;
  if ("question" in part) return <p class="assistant-asks">{part.question}</p>;
  return (
    <div class="assistant-text">
      <Markdown text={part.text} org={org} />
    </div>
  );
}

function RunView({ run: { tool, input, ended } }: { run: ToolRun }) {
  const rows = ended?.rows;
  const state = !ended
    ? "running"
    : !ended.ok
      ? "refused"
      : rows === null || rows === undefined
        ? "read"
        : `${rows} ${rows === 1 ? "row" : "rows"}`;
  const sql =
    tool === "run_sql" && typeof input === "object" && input !== null && "sql" in input ? String(input.sql) : null;
  return (
    <details class="assistant-run">
      <summary>
        <Icon name={!ended ? "loader-circle" : ended.ok ? "check" : "circle-x"} class="small" />
        <span class="mono">{tool}</span>{" "}
        <span class="muted">
          {state}
          {ended && `, ${duration(ended.ms)}`}
        </span>
      </summary>
      <pre class="mono assistant-code">{sql ?? JSON.stringify(input, null, 2)}</pre>
      {sql !== null && (
        <SqlLink sql={() => sql} class="link">
          Run again
        </SqlLink>
      )}
    </details>
  );
}

const NOUNS: Record<string, string> = { saved_query: "saved query", tile: "tile", alert: "alert" };

/** A draft as a diff: every line is new. Approving it calls the normal route. */
function Draft({ artifact }: { artifact: Artifact }) {
  const [state, setState] = useState<"open" | "busy" | "stored">("open");
  const [problem, setProblem] = useState<unknown>(null);
  const noun = NOUNS[artifact.kind] ?? artifact.kind;
  const store = async () => {
    setState("busy");
    try {
      await approve(artifact);
      setState("stored");
      setProblem(null);
      announce(`The ${noun} is saved`);
    } catch (error) {
      setState("open");
      setProblem(error);
    }
  };
  return (
    <section class="assistant-draft" aria-label={`Draft: ${noun}`}>
      <h3>Draft: {noun}</h3>
      <pre class="mono assistant-code">
        {Object.entries(artifact.body).map(([name, value]) => (
          <ins>{`+ ${name}: ${typeof value === "string" ? value : JSON.stringify(value)}\n`}</ins>
        ))}
      </pre>
      {problem !== null && <Failed error={problem} />}
      {state === "stored" ? (
        <p class="muted">Saved.</p>
      ) : (
        <button type="button" class="button" disabled={state === "busy"} onClick={() => void store()}>
          Approve
        </button>
      )}
    </section>
  );
}
