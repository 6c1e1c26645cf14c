import { Icon } from "../kit/icon";
import type { IconName } from "../kit/icon-names";
import { middle } from "../kit/text/formats";
import { type Outcome, outcomeWords } from "./model";

const MOST_CHARS = 40;
const SIGNS: Record<Outcome["kind"], { icon: IconName; tone: string }> = {
  failed: { icon: "circle-x", tone: "err" },
  success: { icon: "circle-check", tone: "ok" },
  other: { icon: "circle-help", tone: "dim" },
};

/** The outcome as a sign beside the state. Its name is what was sent. */
export function OutcomeSign({ outcome: { kind, text } }: { outcome: Outcome }) {
  const { icon, tone } = SIGNS[kind];
  return (
    <span class={`session-outcome ${tone}`} role="img" aria-label={text || kind} title={`Outcome: ${text || kind}`}>
      <Icon name={icon} />
    </span>
  );
}

/** The outcome with the same sign, and in words. */
export function OutcomePill({ outcome }: { outcome: Outcome }) {
  const { icon, tone } = SIGNS[outcome.kind];
  const words = outcomeWords(outcome);
  return (
    <span class={`pill ${tone}`} title={`Outcome: ${words}`}>
      <Icon name={icon} class="small" />
      {middle(words, MOST_CHARS)}
    </span>
  );
}
