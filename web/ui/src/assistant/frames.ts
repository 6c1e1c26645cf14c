// The frames of an answer, and what a person sees of them so far. Pure.

export interface Artifact {
  kind: string;
  /** Method and path of the route that stores it. */
  route: string;
  body: Record<string, unknown>;
}

export type Frame =
  | { type: "text-delta"; text: string }
  | { type: "tool-start"; tool: string; input: unknown }
  | { type: "tool-end"; tool: string; ok: boolean; rows?: number; ms: number }
  | { type: "ask-user"; callId: string; question: string }
  | { type: "ui-action"; action: string; artifact: Artifact }
  | { type: "error"; message: string }
  | { type: "done"; usage: Record<string, number> };

export interface ToolRun {
  tool: string;
  input: unknown;
  /** Absent while it runs. */
  ended?: { ok: boolean; rows: number | null; ms: number };
}

export type Part = { text: string } | { run: ToolRun } | { artifact: Artifact } | { question: string };

export interface Answer {
  parts: readonly Part[];
  error: string | null;
  /** Whether the last frame has come. */
  ended: boolean;
}

export const NOTHING: Answer = { parts: [], error: null, ended: false };

/** Takes apart the text of a stream: its whole frames with their ids, and the rest. */
export function framesIn(text: string): { frames: { id: string; frame: Frame }[]; rest: string } {
  const events = text.split("\n\n");
  const rest = events.pop() ?? "";
  const frames = events.flatMap((event) => {
    const lines = event.split("\n");
    const of = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = of("data");
    return data === undefined ? [] : [{ id: of("id") ?? "", frame: JSON.parse(data) as Frame }];
  });
  return { frames, rest };
}

/** The answer after one more frame. */
export function added({ parts, error, ended }: Answer, frame: Frame): Answer {
  const more = (part: Part) => ({ parts: [...parts, part], error, ended });
  const last = parts.at(-1);
  switch (frame.type) {
    case "text-delta":
      if (!last || !("text" in last)) return more({ text: frame.text });
      return { parts: [...parts.slice(0, -1), { text: last.text + frame.text }], error, ended };
    case "tool-start":
      return more({ run: { tool: frame.tool, input: frame.input } });
    case "tool-end":
      return { parts: withEnd(parts, frame), error, ended };
    case "ask-user":
      return more({ question: frame.question });
    case "ui-action":
      return more({ artifact: frame.artifact });
    case "error":
      return { parts, error: frame.message, ended: true };
    case "done":
      return { parts, error, ended: true };
  }
}

function withEnd(parts: readonly Part[], frame: Frame & { type: "tool-end" }): Part[] {
  const place = parts.findLastIndex((part) => "run" in part && !part.run.ended && part.run.tool === frame.tool);
  return parts.map((part, index) =>
    index === place && "run" in part
      ? { run: { ...part.run, ended: { ok: frame.ok, rows: frame.rows ?? null, ms: frame.ms } } }
      : part,
  );
}

/** The text of an answer, as the thread keeps it. */
export function textOf({ parts }: Answer): string {
  return parts.map((part) => ("text" in part ? part.text : "question" in part ? part.question : "")).join("");
}
