// Long texts. A browser needs seconds to lay out megabytes of one line, so they come in parts.
import { useState } from "preact/hooks";
import { chunks } from "./chunks";
import { bytes } from "./formats";
import { Text } from "./text";

const AT_ONCE = 128 * 1024;

/** A text of any length. Its parts are laid out when they come into view. */
export function Chunks({ text }: { text: string }) {
  const parts = chunks(text);
  if (parts.length === 1) return <Text>{text}</Text>;
  return (
    <>
      {parts.map((part, index) => (
        <span key={index} class="chunk">
          <Text>{part}</Text>
        </span>
      ))}
    </>
  );
}

/** The size of a text as UTF-8, in words. */
export function sizeOf(text: string): string {
  return bytes(new Blob([text]).size);
}

/** The part of a text that is shown: its beginning `first`, until the button shows the rest. */
export function useBeginning(text: string, first: string, classes = "button ghost") {
  const [all, setAll] = useState(false);
  const shown = all ? text : first;
  const rest = shown.length < text.length && (
    <button type="button" class={classes} onClick={() => setAll(true)}>
      Show all {sizeOf(text)}
    </button>
  );
  return { shown, rest };
}

/** A text as it was sent: its beginning, and the button that shows the rest. */
export function Raw({ text }: { text: string }) {
  const { shown, rest } = useBeginning(text, text.slice(0, AT_ONCE));
  return (
    <>
      <pre class="raw" tabIndex={0}>
        <Chunks text={shown} />
      </pre>
      {rest && (
        <p class="side-note soft">
          shown {sizeOf(shown)} of {sizeOf(text)} {rest}
        </p>
      )}
    </>
  );
}
