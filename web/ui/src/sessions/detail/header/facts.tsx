import { setQuery } from "../../../kit/router";
import { compact, decimal, duration, exact, plural } from "../../../kit/text/formats";
import { Moment, Money } from "../../../kit/text/values";
import type { SessionDetail } from "../api";
import { countOnes } from "../model/filters";
import { elapsed, silence } from "../model/live";
import type { View } from "../view";
import { Dimensions } from "./dimensions";

/** The line below the name: where, when, how long, how much. Facts that one may not read come from the events. */
export function Facts({ view }: { view: View }) {
  const facts = view.source.facts.value;
  const session = view.session.value;
  const running = view.state.value === "running";
  const begin = facts ? Date.parse(facts.started_at) : session ? session.begin / 1000 : null;
  const end = view.endedAt.value ?? view.lastEventAt.value;
  const scores = Object.entries(facts?.latest_evaluation?.scores ?? {});
  const quiet = running ? silence(view.clock.value - view.lastEventAt.value, view.open.value.length) : "";
  // The events are newer than the facts about them.
  const totals = session && view.source.complete.value ? totalsOf(view) : (facts ?? (session && totalsOf(view)));
  return (
    <div class="session-facts">
      {facts && (
        <span>
          <b>{facts.environment}</b>
        </span>
      )}
      {begin !== null && (
        <span>
          started{" "}
          <b>
            <Moment at={new Date(begin).toISOString()} />
          </b>
        </span>
      )}
      {begin !== null &&
        (running ? (
          <span>
            for <b>{elapsed(view.clock.value - begin)}</b>
          </span>
        ) : (
          <span>
            took <b>{duration(end - begin)}</b>
          </span>
        ))}
      {totals && (
        <>
          <span>
            <b title={exact(totals.event_count)}>{exact(totals.event_count)}</b>{" "}
            {totals.event_count === 1 ? "event" : "events"}
          </span>
          {totals.error_count > 0 ? (
            <span class="err">
              <b>{exact(totals.error_count)}</b> failed
            </span>
          ) : (
            <span>none failed</span>
          )}
          <span title={`${plural(totals.input_tokens, "token")} in, ${exact(totals.output_tokens)} out`}>
            <b>{compact(totals.input_tokens)}</b> in · <b>{compact(totals.output_tokens)}</b> out
          </span>
        </>
      )}
      {facts && <Usage facts={facts} />}
      {scores.map(([key, value]) => (
        <button
          key={key}
          type="button"
          class="fact-link"
          title={`${value}: show the evaluation`}
          onClick={() => setQuery({ view: "evaluations" })}
        >
          {key} <b>{decimal(value)}</b>
        </button>
      ))}
      <span role="status" class="warn">
        {quiet}
      </span>
      {facts && scores.length === 0 && <span class="dim">{facts.evaluation_state.sentence}</span>}
      {facts && <Dimensions facts={facts} />}
    </div>
  );
}

const CLASSES = [
  ["cache_read_tokens", "cached"],
  ["cache_write_tokens", "written to the cache"],
  ["cache_write_1h_tokens", "of it for an hour"],
  ["reasoning_tokens", "reasoning"],
] as const;

/** The classes of tokens, and the cost. */
function Usage({ facts }: { facts: SessionDetail }) {
  return (
    <>
      {CLASSES.filter(([name]) => facts[name] > 0).map(([name, words]) => (
        <span key={name} title={plural(facts[name], "token")}>
          <b>{compact(facts[name])}</b> {words}
        </span>
      ))}
      {facts.model_calls > 0 && (
        <span>
          cost{" "}
          <b>
            <Money value={facts.cost_usd} unpriced={facts.unpriced_calls} />
          </b>
        </span>
      )}
    </>
  );
}

function totalsOf(view: View) {
  const { outline } = view.session.value!;
  const sum = (column: Float64Array) =>
    column.reduce((total, value) => (Number.isNaN(value) ? total : total + value), 0);
  return {
    event_count: outline.before + outline.length + outline.after,
    error_count: countOnes(outline.error),
    input_tokens: sum(outline.inputTokens),
    output_tokens: sum(outline.outputTokens),
  };
}
