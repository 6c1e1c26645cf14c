// Payloads of events, read when they come into view and kept within bounds.

import { memberText } from "../../kit/text/raw";
import { readEventText, readLines } from "./api";

export interface Payload {
  /** The text as it was sent. */
  raw: string;
  value: Record<string, unknown>;
}

const AT_ONCE = 4;
const MOST_CHARS = 16_000_000;

/** One for each session page. */
export class Payloads {
  readonly #known = new Map<number, Payload>();
  readonly #reading = new Map<number, Promise<Payload>>();
  readonly #queue: (() => void)[] = [];
  #chars = 0;
  #active = 0;

  constructor(readonly id: string) {}

  /** The payload if it is here already. */
  peek(event: number): Payload | undefined {
    return this.#known.get(event);
  }

  get(event: number): Promise<Payload> {
    const known = this.#known.get(event);
    if (known) return Promise.resolve(known);
    const reading = this.#reading.get(event);
    if (reading) return reading;
    const started = this.#read(event).finally(() => this.#reading.delete(event));
    this.#reading.set(event, started);
    return started;
  }

  /** Reads as many as are kept, oldest first, in one answer. */
  readAll(signal: AbortSignal): Promise<void> {
    const take = (line: string) => {
      const event = Number(memberText(line, "id"));
      if (this.#known.has(event)) return true;
      const raw = memberText(line, "payload") ?? "{}";
      if (this.#chars + raw.length > MOST_CHARS) return false;
      this.#keep(event, payloadOf(raw));
      return true;
    };
    return readLines(this.id, take, signal);
  }

  async #read(event: number): Promise<Payload> {
    if (this.#active >= AT_ONCE) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#active++;
    try {
      const payload = payloadOf(memberText(await readEventText(this.id, event), "payload") ?? "{}");
      this.#keep(event, payload);
      return payload;
    } finally {
      this.#active--;
      this.#queue.shift()?.();
    }
  }

  #keep(event: number, payload: Payload): void {
    this.#known.set(event, payload);
    this.#chars += payload.raw.length;
    // A map keeps the order of insertion, so the first one is the oldest.
    for (const [oldest, { raw }] of this.#known) {
      if (this.#chars <= MOST_CHARS || oldest === event) break;
      this.#known.delete(oldest);
      this.#chars -= raw.length;
    }
  }
}

function payloadOf(raw: string): Payload {
  return { raw, value: JSON.parse(raw) as Record<string, unknown> };
}
