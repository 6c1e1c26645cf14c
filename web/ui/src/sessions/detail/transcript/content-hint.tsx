import { useEffect, useState } from "preact/hooks";
import { CAPTURE_VARIABLE } from "../../../kit/form/capture";
import { type Turn, wordsOf } from "../model/transcript";
import type { Payloads } from "../payloads";

/** So many calls say whether contents are recorded. */
const LOOKED_AT = 6;
const CONTENTS = ["content", "messages", "prompt", "input", "system"];

type Fields = Record<string, unknown>;

/** Whether calls that came by OpenTelemetry have no text. */
export function lacksContents(payloads: readonly Fields[]): boolean {
  return (
    payloads.length > 0 &&
    payloads.every((payload) => "otel" in payload && CONTENTS.every((name) => !wordsOf(payload[name])))
  );
}

/** Says why the transcript is empty, and what to set: instrumentations record contents only where they are told to. */
export function ContentHint({
  turns,
  ids,
  payloads,
}: {
  turns: readonly Turn[];
  ids: ArrayLike<number>;
  payloads: Payloads;
}) {
  const [missing, setMissing] = useState(false);
  const calls = turns
    .filter(({ kind }) => kind === "request" || kind === "assistant")
    .slice(0, LOOKED_AT)
    .map(({ event }) => ids[event]!);
  useEffect(() => {
    let current = true;
    Promise.all(calls.map((id) => payloads.get(id))).then(
      (found) => current && setMissing(lacksContents(found.map(({ value }) => value))),
      () => undefined, // the turns say what did not load
    );
    return () => void (current = false);
  }, [calls.join()]);
  if (!missing) return null;
  return (
    <p class="notice warn" role="note">
      The calls of this session came without their messages. Set <code>{CAPTURE_VARIABLE}</code> where the agent runs.
    </p>
  );
}
