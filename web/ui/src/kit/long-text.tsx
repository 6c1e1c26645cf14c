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

/** A text as it was sent: its beginning, and the button that shows the rest. */
export function Raw({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const shown = all ? text : text.slice(0, AT_ONCE);
  const size = bytes(new Blob([text]).size);
  return (
    <>
      <pre class="raw" tabIndex={0}>
        <Chunks text={shown} />
      </pre>
      {shown.length < text.length && (
        <p class="side-note soft">
          shown {bytes(new Blob([shown]).size)} of {size}{" "}
          <button type="button" class="button ghost" onClick={() => setAll(true)}>
            Show all {size}
          </button>
        </p>
      )}
    </>
  );
}
