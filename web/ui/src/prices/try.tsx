import { useLoad } from "../kit/data/load";
import { Failed } from "../kit/data/states";
import { Lines } from "../kit/prices/lines";
import { noteText } from "../kit/prices/words";
import { param, setQuery, typeQuery } from "../kit/router";
import { quote } from "./api";
import { CALL_FIELDS, callOf, quoteWords } from "./model";

/** The parameter of the URL with a field of the call. `model` is the search of the lists. */
const inUrl = (name: string) => `call.${name}`;

/** The region "Try a call": what it would cost, while it is typed. */
export function TryCall() {
  const call = callOf((name) => param(inUrl(name)));
  const load = useLoad(call && ["quote", call], (options) => quote(call!, options));
  const { data } = load;
  return (
    <section class="price-try" aria-label="Try a call">
      <h2>Try a call</h2>
      <div class="price-call">
        {CALL_FIELDS.map(({ name, label, number }) => (
          <label key={name} class="field">
            <span>{label}</span>
            <input
              class={number ? "input" : "input mono"}
              type="text"
              inputMode={number ? "numeric" : undefined}
              autocomplete="off"
              spellcheck={false}
              value={param(inUrl(name)) ?? ""}
              onInput={(event) => typeQuery({ [inUrl(name)]: event.currentTarget.value })}
              onChange={(event) => setQuery({ [inUrl(name)]: event.currentTarget.value })}
            />
          </label>
        ))}
      </div>
      <p role="status" aria-busy={load.busy}>
        {call && !load.error && data && quoteWords(data)}
      </p>
      {call && load.error !== null && <Failed error={load.error} onRetry={load.reload} />}
      {call && !load.error && data && (
        <>
          {data.lines.length > 0 && <Lines lines={data.lines} />}
          {data.notes.map((note) => (
            <p key={note} class="soft">
              {noteText(note)}
            </p>
          ))}
        </>
      )}
    </section>
  );
}
