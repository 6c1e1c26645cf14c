import { useState } from "preact/hooks";
import { Chunks, sizeOf, useBeginning } from "../../../kit/text/long-text";
import { Markdown } from "../../../kit/text/rendered";
import type { Part } from "../model/transcript";

const LINES = 12;
const CHARS = 1600;
const PRINTED_CHARS = 20_000;
/** A longer text would take long to lay out at once. */
const MOST_FORMATTED = 100_000;
/** What a text without any formatting does not have. */
const SIGNS = /[`*|]|^#{1,6}\s|^\s*(?:[-+]|\d{1,3}[.)])\s/m;

/** A text of a turn: at most twelve lines, and the button that shows the rest. */
export function TurnPart({
  label,
  text,
  mono,
  failed,
  markdown = false,
  folded = false,
  printing,
}: Part & { printing: boolean }) {
  const [open, setOpen] = useState(!folded);
  const [asSent, setAsSent] = useState(false);
  const first = printing ? text.slice(0, PRINTED_CHARS) : firstLines(text);
  const { shown, rest } = useBeginning(text, first, "button ghost turn-more");
  const formatted = markdown && shown.length <= MOST_FORMATTED && SIGNS.test(shown);
  const classes = ["turn-text", mono && "mono", failed && "err"].filter(Boolean).join(" ");
  const content = (
    <>
      {formatted && !asSent ? (
        <div class="turn-markdown">
          <Markdown text={shown} />
        </div>
      ) : (
        <pre class={classes}>
          <Chunks text={shown} />
        </pre>
      )}
      {formatted && (
        <button type="button" class="button ghost turn-more" aria-pressed={asSent} onClick={() => setAsSent(!asSent)}>
          As sent
        </button>
      )}
      {rest}
    </>
  );
  if (folded) {
    return (
      <details class="turn-part" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          {label} <span class="dim">{sizeOf(text)}</span>
        </summary>
        {open && content}
      </details>
    );
  }
  return (
    <div class="turn-part">
      {label && <h3 class="turn-label">{label}</h3>}
      {content}
    </div>
  );
}

function firstLines(text: string): string {
  let at = -1;
  for (let line = 0; line < LINES; line++) {
    at = text.indexOf("\n", at + 1);
    if (at < 0) return text.length > CHARS ? text.slice(0, CHARS) : text;
  }
  return text.slice(0, Math.min(at, CHARS));
}
