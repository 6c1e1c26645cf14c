// The thread that the rail shows. It outlives the rail and the pages, but not the organization.
import { signal } from "@preact/signals";
import { ApiError } from "../api/errors";
import { pause } from "../api/request";
import { organization } from "../kit/organization";
import { ask, keep, type Question, readConversation, type Said } from "./api";
import { type Answer, added, framesIn, NOTHING, textOf } from "./frames";

export interface Turn {
  question: string;
  answer: Answer;
}

export const turns = signal<readonly Turn[]>([]);
export const conversation = signal<string | null>(null);

let running: AbortController | null = null;
let org: string | null = null;

const TRIES = 5;
const AGAIN_MS = 1000;

/** Forgets the thread. The conversation stays on the server. */
export function startOver(): void {
  stop();
  turns.value = [];
  conversation.value = null;
  org = organization();
}

/** Starts over if the person went to another organization. */
export function keepApart(): void {
  if (organization() !== org) startOver();
}

/** Ends the answer that is being written. */
export function stop(): void {
  running?.abort();
  running = null;
}

/** Shows a conversation from the server. */
export async function open(id: string): Promise<void> {
  startOver();
  const { messages } = await readConversation(id);
  const found: Turn[] = [];
  for (const { role, content } of messages as Said[]) {
    const text = content?.text ?? "";
    if (role === "user") found.push({ question: text, answer: { ...NOTHING, ended: true } });
    else if (found.length) found.at(-1)!.answer = { parts: [{ text }], error: null, ended: true };
  }
  turns.value = found;
  conversation.value = id;
}

/** Asks a question and adds the answer while it is written. */
export async function send(question: string): Promise<void> {
  stop();
  const control = (running = new AbortController());
  const asked: Question = {
    messages: [...saidIn(turns.peek()), { role: "user", content: { text: question } }],
    conversationId: conversation.peek(),
    pageContext: { path: location.pathname + location.search, title: document.title },
    pageActions: ["open_artifact"],
  };
  turns.value = [...turns.peek(), { question, answer: NOTHING }];
  const change = (answer: Answer) => {
    if (!control.signal.aborted) turns.value = [...turns.peek().slice(0, -1), { question, answer }];
  };
  let answer = NOTHING;
  try {
    answer = await follow(asked, control.signal, change);
  } catch (error) {
    if (control.signal.aborted) {
      markStopped();
      return;
    }
    answer = { ...answer, error: error instanceof Error ? error.message : `${error}`, ended: true };
    change(answer);
  }
  if (running === control) running = null;
  if (!answer.error && !control.signal.aborted)
    conversation.value = await keep(conversation.peek(), saidIn(turns.peek())).catch(() => conversation.peek());
}

/** Reads an answer to its end. After a break it goes on behind the last frame. */
async function follow(asked: Question, signal: AbortSignal, change: (answer: Answer) => void): Promise<Answer> {
  let answer = NOTHING;
  let last: string | null = null;
  for (let tries = 0; ; tries++) {
    let rest = "";
    try {
      await ask(
        asked,
        last,
        (text) => {
          const found = framesIn(rest + text);
          rest = found.rest;
          for (const { id, frame } of found.frames) {
            last = id;
            tries = 0;
            answer = added(answer, frame);
          }
          if (found.frames.length) change(answer);
        },
        signal,
      );
      if (answer.ended) return answer;
    } catch (error) {
      if (signal.aborted || (error instanceof ApiError && error.status !== 0)) throw error;
    }
    if (tries >= TRIES || last === null) throw new Error("The connection broke. Ask again.");
    await pause(AGAIN_MS, signal);
  }
}

function markStopped(): void {
  const last = turns.peek().at(-1);
  if (last && !last.answer.ended)
    turns.value = [
      ...turns.peek().slice(0, -1),
      { ...last, answer: { ...last.answer, error: "Stopped.", ended: true } },
    ];
}

function saidIn(all: readonly Turn[]): Said[] {
  return all.flatMap(({ question, answer }): Said[] => {
    const text = textOf(answer);
    const asked: Said = { role: "user", content: { text: question } };
    return text ? [asked, { role: "assistant", content: { text } }] : [asked];
  });
}
