import { useState } from "preact/hooks";
import { can } from "../../../api/session";
import { type Load, useLoad } from "../../../kit/data/load";
import { Failed } from "../../../kit/data/states";
import { decimal, duration, plural } from "../../../kit/text/formats";
import { Text } from "../../../kit/text/text";
import { Moment } from "../../../kit/text/values";
import { type Evaluation, readEvaluations } from "../api";
import { useLater } from "../use-later";
import type { View } from "../view";

/** The results of the session, newest first; read again when there is a newer one. */
export function useEvaluations({ source }: View): Load<Evaluation[]> {
  const latest = source.facts.value?.latest_evaluation?.evaluation_id ?? "";
  // The rows of the session come first.
  const wanted = useLater(true) && can("evaluations:read");
  return useLoad(wanted ? `${source.id}\n${latest}` : null, ({ signal }) => readEvaluations(source.id, signal!));
}

/** The newest result with its reasoning, older ones below; or why there is none. */
export function Evaluations({ view, results }: { view: View; results: Load<Evaluation[]> }) {
  const facts = view.source.facts.value;
  const { data, error, reload } = results;
  const [chosen, setChosen] = useState<string | null>(null);
  if (error) return <Failed error={error} onRetry={reload} />;
  if (!data) return <div class="evaluations" aria-busy="true" />;
  const state = facts?.evaluation_state;
  const pending = state && !["scored", "error", "timeout"].includes(state.code);
  const shown = data.find((result) => result.evaluation_id === chosen) ?? data[0];
  return (
    <div class="evaluations">
      {pending && (
        <section class="why" aria-label="Why no score">
          <h2>{data.length ? "The next score" : "Why no score"}</h2>
          <p>{state.sentence}</p>
          {state.job && (
            <p class="soft">
              Attempt {state.job.attempt_count}, queued <Moment at={state.job.enqueued_at} />
              {state.job.last_error && (
                <>
                  . Last error: <Text>{state.job.last_error}</Text>
                </>
              )}
            </p>
          )}
        </section>
      )}
      {shown && <Result result={shown} newest={shown === data[0]} />}
      {data.length > 1 && (
        <section aria-label="Results">
          <h2>{plural(data.length, "result")}</h2>
          <ul class="results">
            {data.map((result) => (
              <li key={result.evaluation_id}>
                <button
                  type="button"
                  class="result-choice"
                  aria-pressed={result === shown}
                  onClick={() => setChosen(result.evaluation_id)}
                >
                  <Moment at={result.completed_at} />{" "}
                  <span class={result.status === "done" ? "soft" : "err"}>{scoreLine(result)}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function scoreLine({ status, scores }: Evaluation): string {
  const entries = Object.entries(scores ?? {});
  return entries.length ? entries.map(([key, value]) => `${key} ${decimal(value)}`).join(", ") : status;
}

function Result({ result, newest }: { result: Evaluation; newest: boolean }) {
  const scores = Object.entries(result.scores ?? {});
  // A map: names of scores are the evaluator's, and may be those of every object.
  const reasons = new Map(Object.entries(result.reasoning ?? {}));
  const others = [...reasons].filter(([key]) => !scores.some(([known]) => known === key));
  return (
    <section class="result" aria-label={newest ? "Newest result" : "Result"}>
      <header>
        <h2>{newest ? "Newest result" : "Earlier result"}</h2>
        <span class={`pill ${result.status === "done" ? "ok" : "err"}`}>{result.status}</span>
      </header>
      <p class="soft">
        completed <Moment at={result.completed_at} />, {plural(result.attempt_count, "attempt")}
        {result.duration_ms !== null && `, ${duration(result.duration_ms)}`}
      </p>
      {result.error && (
        <p class="box-err">
          <Text>{result.error}</Text>
        </p>
      )}
      {result.summary && (
        <p class="result-summary">
          <Text>{result.summary}</Text>
        </p>
      )}
      <dl class="scores">
        {scores.map(([key, value]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>
              <b title={String(value)}>{decimal(value)}</b>
              <span>
                <Text>{reasons.get(key) ?? ""}</Text>
              </span>
            </dd>
          </div>
        ))}
        {others.map(([key, text]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>
              <Text>{text}</Text>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
