import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../../kit/icon";
import { setQuery, typeQuery } from "../../../kit/router";
import { exact } from "../../../kit/text/formats";
import { searchPayloads } from "../api";
import { nextOne, rankOf } from "../model/find";
import { chooseEvent, hidesOthers, searchText } from "../state";
import type { View } from "../view";

const PAUSE_MS = 250;

/** Searchbox "Search in session": summaries at once, payloads when the server has answered. */
export function Find({ view }: { view: View }) {
  const field = useRef<HTMLInputElement>(null);
  const text = searchText.value;
  useEffect(() => {
    view.inPayload.value = null;
    view.searchError.value = "";
    if (!text) return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      searchPayloads(view.source.id, text, controller.signal).then(
        (found) => void (view.inPayload.value = found),
        (error: unknown) =>
          controller.signal.aborted || (view.searchError.value = error instanceof Error ? error.message : `${error}`),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text, view]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") goToMatch(view, event.shiftKey ? -1 : 1);
    else if (event.key === "Escape" && text) setQuery({ q: null, hide: null });
    else if (event.key === "Escape") field.current!.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="find">
      <label class="find-field">
        <Icon name="search" />
        <input
          ref={field}
          type="search"
          aria-label="Search in session"
          placeholder="Search in session"
          data-search
          value={text}
          onInput={(event) => typeQuery({ q: event.currentTarget.value })}
          onChange={() => setQuery({})}
          onKeyDown={onKeyDown}
        />
        <FindStatus view={view} />
        {!text && <kbd aria-hidden="true">/</kbd>}
      </label>
      {view.searchError.value && (
        <span role="alert" class="find-status err">
          Payloads were not searched: {view.searchError.value}
        </span>
      )}
      {text && (
        <label class="session-check">
          <input
            type="checkbox"
            checked={hidesOthers.value}
            onChange={(event) => setQuery({ hide: event.currentTarget.checked ? "1" : null })}
          />
          Hide others
        </label>
      )}
    </div>
  );
}

/** "12 of 13,000 match", and the place of the chosen match. */
function FindStatus({ view }: { view: View }) {
  const bits = view.matching.value;
  const session = view.session.value;
  const at = view.chosen.value;
  const total = session ? session.outline.before + session.outline.length + session.outline.after : 0;
  return (
    <>
      {bits && at >= 0 && bits[at] === 1 && (
        <span class="find-status" title="The place of the chosen match">
          no. {exact(rankOf(bits, at))} ·
        </span>
      )}
      <span role="status" class="find-status">
        {bits ? `${exact(view.matchCount.value)} of ${exact(total)} match` : ""}
      </span>
    </>
  );
}

/** Chooses the next match, going round at the end. */
export function goToMatch(view: View, step: 1 | -1): void {
  if (view.matching.value) goToBit(view, view.matching.value, step);
}

export function goToError(view: View): void {
  if (view.session.value) goToBit(view, view.session.value.outline.error, 1);
}

function goToBit(view: View, bits: Uint8Array, step: 1 | -1): void {
  const next = nextOne(bits, view.chosen.value, step);
  if (next >= 0) chooseEvent(view.session.value!.outline.id[next]!, { typing: true });
}
