import { useState } from "preact/hooks";
import { bytes } from "../../../kit/formats";
import { Chunks } from "../../../kit/long-text";
import { Markdown } from "../../../kit/rendered";
import type { Part } from "./turn";

const LINES = 12;
const CHARS = 1600;
const PRINTED_CHARS = 20_000;
/** A longer text would take long to lay out at once. */
const MOST_FORMATTED = 100_000;
/** What a text without any formatting does not have. */
const SIGNS = /[`*|]|^#{1,6}\s|^\s*(?:[-+]|\d{1,3}[.)])\s/m;

/** A text of at most twelve lines, and the button that shows the rest. */
export function LongText({
  label,
  text,
  mono,
  failed,
  markdown = false,
  folded = false,
  printing,
}: Part & { printing: boolean }) {
  const [all, setAll] = useState(false);
  const [open, setOpen] = useState(!folded);
  const [asSent, setAsSent] = useState(false);
  const cut = all ? text : printing ? text.slice(0, PRINTED_CHARS) : firstLines(text);
  const formatted = markdown && cut.length <= MOST_FORMATTED && SIGNS.test(cut);
  const classes = ["turn-text", mono && "mono", failed && "err"].filter(Boolean).join(" ");
  const content = (
    <>
      {formatted && !asSent ? (
        <div class="turn-markdown">
          <Markdown text={cut} />
        </div>
      ) : (
        <pre class={classes}>
          <Chunks text={cut} />
        </pre>
      )}
      {formatted && (
        <button type="button" class="button ghost turn-more" aria-pressed={asSent} onClick={() => setAsSent(!asSent)}>
          As sent
        </button>
      )}
      {cut.length < text.length && (
        <button type="button" class="button ghost turn-more" onClick={() => setAll(true)}>
          Show all {bytes(new Blob([text]).size)}
        </button>
      )}
    </>
  );
  if (folded) {
    return (
      <details class="turn-part" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          {label} <span class="dim">{bytes(new Blob([text]).size)}</span>
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
