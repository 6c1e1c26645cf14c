import { useMemo } from "preact/hooks";
import { Icon } from "../../kit/icon";
import { useSideless } from "../../kit/media";
import { Dialog } from "../../kit/overlay/dialog";
import { plural } from "../../kit/text/formats";
import { Text } from "../../kit/text/text";
import type { Payloads } from "../detail/payloads";
import { usePayload } from "../detail/use-payload";
import { chooseLine, chosenLine } from "./alignment";
import type { Comparison } from "./load";
import { type DiffLine, diffPayloads } from "./model/payload-diff";

const SIGN = { same: " ", left: "−", right: "+" } as const;
const MOST_LINES = 2000;
const TITLE = "Payload difference";

/** How the payloads of the chosen pair differ: beside the rows, or as a dialog over them. */
export function Difference({ comparison, one, other }: { comparison: Comparison; one: Payloads; other: Payloads }) {
  const { left, right, aligned } = comparison;
  const line = chosenLine();
  const asDialog = useSideless();
  const [i, j] = [aligned!.left[line] ?? -1, aligned!.right[line] ?? -1];
  const first = usePayload(one, i >= 0 ? left.outline!.id[i]! : null);
  const second = usePayload(other, j >= 0 ? right.outline!.id[j]! : null);
  const ready = (i < 0 || first.payload) && (j < 0 || second.payload);
  const lines = useMemo(
    () => (ready ? diffPayloads(first.payload?.value, second.payload?.value) : null),
    [ready, first.payload, second.payload],
  );
  if (line < 0 || (i < 0 && j < 0)) return null;
  const changed = lines?.filter(({ side }) => side !== "same").length ?? 0;
  const close = () => chooseLine(-1);
  const content = (
    <>
      {lines && (
        <p class="soft diff-status" role="status">
          {i < 0 || j < 0
            ? "Only one session has this event"
            : changed
              ? `${plural(changed, "line")} differ${changed === 1 ? "s" : ""}`
              : "The payloads are equal"}
        </p>
      )}
      <div class="side-scroll diff" tabIndex={0}>
        {lines?.slice(0, MOST_LINES).map((each, index) => (
          <Line key={index} {...each} />
        ))}
        {lines && lines.length > MOST_LINES && (
          <p class="side-note dim">
            {MOST_LINES} of {lines.length} lines shown; open the events for the rest.
          </p>
        )}
      </div>
    </>
  );
  if (asDialog)
    return (
      <Dialog title={TITLE} kind="side" onClose={close}>
        {content}
      </Dialog>
    );
  return (
    <aside class="side-panel" aria-label={TITLE}>
      <header class="side-head">
        <div class="side-title">
          <h2>{TITLE}</h2>
          <span class="grow" />
          <button type="button" class="button ghost" aria-label="Close" title="Close" onClick={close}>
            <Icon name="x" />
          </button>
        </div>
      </header>
      {content}
    </aside>
  );
}

function Line({ side, text }: DiffLine) {
  const spoken = { same: "", left: "first session only: ", right: "second session only: " }[side];
  return (
    <div class={`diff-line diff-${side}`}>
      <i aria-hidden="true">{SIGN[side]}</i>
      {spoken && <span class="visually-hidden">{spoken}</span>}
      <span>
        <Text>{text}</Text>
      </span>
    </div>
  );
}
