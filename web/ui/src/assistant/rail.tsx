import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../kit/icon";
import { place } from "../kit/router";
import { Conversations } from "./conversations";
import { suggestionsFor } from "./suggestions";
import { keepApart, send, startOver, stop, turns } from "./thread";
import { TurnView } from "./turn";

/** The assistant beside a page. It knows the page's address, and goes on while one walks around. */
export default function Rail({ org, onClose }: { org: string; onClose: () => void }) {
  keepApart();
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const shown = turns.value;
  const isBusy = shown.some(({ answer }) => !answer.ended);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => list.current?.scrollTo({ top: list.current.scrollHeight }), [shown]);
  const submit = (question: string) => {
    if (!question.trim() || isBusy) return;
    setText("");
    void send(question.trim());
  };
  return (
    <aside class="assistant" aria-label="Assistant">
      <header class="assistant-head">
        <h2>Assistant</h2>
        <Conversations />
        <button type="button" class="button ghost" aria-label="New conversation" onClick={startOver}>
          <Icon name="plus" />
        </button>
        <button type="button" class="button ghost" aria-label="Close assistant" onClick={onClose}>
          <Icon name="x" />
        </button>
      </header>
      <div class="assistant-turns" ref={list} role="log" tabIndex={0} aria-label="Conversation">
        {shown.map((turn) => (
          <TurnView turn={turn} org={org} onRetry={() => submit(turn.question)} />
        ))}
        {!shown.length && (
          <ul class="assistant-suggestions" aria-label="Suggestions">
            {suggestionsFor(place.value.segments).map((question) => (
              <li>
                <button type="button" class="button" onClick={() => submit(question)}>
                  {question}
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
      <form
        class="assistant-form"
        onSubmit={(event) => {
          event.preventDefault();
          submit(text);
        }}
      >
        <textarea
          ref={field}
          class="input"
          aria-label="Question"
          placeholder="Ask about your agents"
          rows={3}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") onClose();
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            submit(text);
          }}
        />
        {isBusy ? (
          <button type="button" class="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="submit" class="button primary" disabled={!text.trim()}>
            Ask
          </button>
        )}
      </form>
    </aside>
  );
}
