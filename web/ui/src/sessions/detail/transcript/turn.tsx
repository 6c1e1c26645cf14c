import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../../../kit/icon";
import type { IconName } from "../../../kit/icon-names";
import { duration } from "../../../kit/text/formats";
import { newInRequest, type Part, type Turn, type TurnKind, wordsOf } from "../model/transcript";
import type { Payloads } from "../payloads";
import { chooseEvent } from "../state";
import { usePayload } from "../use-payload";
import type { View } from "../view";
import { agentToken } from "../waterfall/palette";
import { TurnPart } from "./turn-part";

interface Props {
  turn: Turn;
  /** From 1. */
  place: number;
  view: View;
  payloads: Payloads;
}

const HEADS: Record<TurnKind, { icon: IconName; label: string }> = {
  goal: { icon: "flag", label: "Goal" },
  request: { icon: "scroll-text", label: "Request" },
  assistant: { icon: "sparkles", label: "Assistant" },
  person: { icon: "user", label: "Person" },
  tool: { icon: "wrench", label: "Tool call" },
  error: { icon: "circle-alert", label: "Error" },
  hook: { icon: "webhook", label: "Hook" },
  end: { icon: "check", label: "End" },
  other: { icon: "file-text", label: "Event" },
};

/**
 * A start without a goal, a request that says nothing new, and an answer that only calls tools are no turns of the
 * conversation.
 */
const ONLY_WITH_TEXT: ReadonlySet<TurnKind> = new Set(["goal", "request", "assistant"]);

/** One turn; its texts are read when it comes into view. */
export function TurnArticle({ turn, place, view, payloads }: Props) {
  const { outline, pairs } = view.session.value!;
  const element = useRef<HTMLElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry!.isIntersecting && setSeen(true), {
      rootMargin: "200px 0px",
    });
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  const printing = view.printing.value;
  const id = (event: number) => ((seen || printing) && event >= 0 ? outline.id[event]! : null);
  const main = usePayload(payloads, id(turn.event));
  const close = usePayload(payloads, id(turn.close));
  const previous = usePayload(payloads, id(turn.previous));
  const ready = main.payload && (turn.close < 0 || close.payload) && (turn.previous < 0 || previous.payload);
  const body = ready ? bodyOf(turn.kind, main.payload!.value, close.payload?.value, previous.payload?.value) : null;
  const failed = outline.error[turn.event] === 1 || (turn.close >= 0 && outline.error[turn.close] === 1);
  const isEmpty = body !== null && body.length === 0 && ONLY_WITH_TEXT.has(turn.kind);
  const onlySystem = turn.kind === "request" && body !== null && body.length > 0 && body.every((part) => part.folded);
  const { icon, label } = onlySystem ? { icon: "scroll-text" as const, label: "System" } : HEADS[turn.kind];
  const name = outline.names[outline.name[turn.event]!] ?? "";
  const title =
    turn.kind === "tool" || turn.kind === "error" || turn.kind === "hook"
      ? name || label
      : turn.kind === "other"
        ? outline.types[outline.type[turn.event]!]!
        : label;
  const chosen = view.chosen.value >= 0 && (view.chosen.value === turn.event || view.chosen.value === turn.close);
  const latency =
    turn.close >= 0 ? pairs.latencyMs[turn.close]! : turn.kind === "assistant" ? pairs.latencyMs[turn.event]! : NaN;
  const error = main.error ?? close.error;
  return (
    <article
      ref={element}
      hidden={isEmpty}
      class={["turn", `turn-${turn.kind}`, failed && "failed", chosen && "selected"].filter(Boolean).join(" ")}
      aria-posinset={place}
      aria-label={`${label}${title === label ? "" : ` ${title}`}`}
      data-event={outline.id[turn.event]}
      style={{ "--depth": String(Math.min(turn.depth, 8)), "--rail": `var(--${agentToken(turn.agent)})` }}
    >
      <header>
        <Icon name={failed ? "circle-alert" : icon} class={failed ? "err" : `kind-${kindOfTurn(turn.kind)}`} />
        <button type="button" class="turn-title" onClick={() => chooseEvent(outline.id[turn.event]!)}>
          {title}
        </button>
        {failed && <span class="pill err">failed</span>}
        {turn.depth > 0 || outline.agents.length > 1 ? (
          <span class="turn-agent">{outline.agents[turn.agent]!.agent_id}</span>
        ) : null}
        {Number.isNaN(latency) ? null : <span class="turn-time">{duration(latency)}</span>}
      </header>
      {body?.map((part) => (
        <TurnPart key={part.label} {...part} printing={printing} />
      ))}
      {error ? (
        <p class="err" role="alert">
          The text did not load.
        </p>
      ) : null}
      {!body && !error && <p class="turn-summary">{outline.summary[turn.event]}</p>}
    </article>
  );
}

function kindOfTurn(kind: TurnKind): string {
  const kinds: Partial<Record<TurnKind, string>> = {
    goal: "agent",
    end: "agent",
    request: "model",
    assistant: "model",
    person: "human",
  };
  return kinds[kind] ?? kind;
}

type Fields = Record<string, unknown>;

function bodyOf(kind: TurnKind, payload: Fields, close?: Fields, earlier?: Fields): Part[] {
  switch (kind) {
    case "goal":
      return formatted(payload["goal"]);
    case "end":
      return plain("", [payload["outcome"], payload["summary"]].filter(Boolean).join(": "));
    case "request":
      return newInRequest(payload, earlier).map(({ role, text }, index) => ({
        label: role === "system" ? "Prompt" : `${role}${index > 1 ? ` ${index}` : ""}`,
        text,
        folded: role === "system",
        markdown: role === "user" || role === "assistant",
      }));
    case "assistant":
      return [...formatted(payload["content"]), ...failure(payload)];
    case "person":
      return formatted(payload["response"] ?? payload["prompt"] ?? payload["reason"]);
    case "tool":
      return [
        ...code("Arguments", payload["input"]),
        ...code("Result", (close ?? payload)["output"]),
        ...failure(close ?? payload),
      ];
    case "error":
      return [
        { label: "", text: wordsOf(payload["message"]), failed: true },
        ...code("Traceback", payload["traceback"]),
      ];
    case "hook":
      return [...plain("", payload["outcome"]), ...code("Output", payload["output"]), ...failure(payload)];
  }
  return code(
    "",
    Object.fromEntries(
      Object.entries(payload).filter(
        ([key]) => !["session_id", "timestamp", "type", "agent_id", "environment"].includes(key),
      ),
    ),
  );
}

const plain = (label: string, value: unknown): Part[] => (wordsOf(value) ? [{ label, text: wordsOf(value) }] : []);
const formatted = (value: unknown): Part[] => plain("", value).map((part) => ({ ...part, markdown: true }));
const code = (label: string, value: unknown): Part[] =>
  wordsOf(value) ? [{ label, text: pretty(value), mono: true }] : [];
const failure = ({ error }: Fields): Part[] => (error ? [{ label: "Error", text: wordsOf(error), failed: true }] : []);

/** JSON within a string is indented like the rest. */
function pretty(value: unknown): string {
  if (typeof value === "string" && /^\s*[[{]/.test(value)) {
    try {
      return JSON.stringify(JSON.parse(value), null, 2);
    } catch {
      return value;
    }
  }
  return typeof value === "object" ? JSON.stringify(value, null, 2) : wordsOf(value);
}
