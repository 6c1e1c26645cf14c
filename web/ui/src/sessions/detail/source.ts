// Reads a session: the page that is needed first, the rest behind it, then what arrives while it runs.
import { batch, effect, signal } from "@preact/signals";
import { ApiError } from "../../api/errors";
import { pause } from "../../api/request";
import { can } from "../../api/session";
import { FIRST_PAGE, PAGE, readOutline, readSession, type SessionDetail } from "./api";
import { nextPoll } from "./model/live";
import { emptyOutline, merge, type Outline, type OutlineAnswer, type Place } from "./model/outline";
import { buildSession, endOf, type Session } from "./model/session";
import { structureInWorker } from "./structure-worker";

const FACTS_EACH_MS = 5000;
const RESULT_EACH_MS = 1000;

export class Source {
  readonly session = signal<Session | null>(null);
  /** Whether every event that was stored at the beginning is here. */
  readonly complete = signal(false);
  readonly error = signal<unknown>(null);
  readonly facts = signal<SessionDetail | null>(null);
  readonly factsError = signal<unknown>(null);
  /** When something new came last, in milliseconds since 1970. */
  readonly heardAt = signal(0);
  /** Whether the event that a link asked for is not part of the session. */
  readonly missing = signal(false);

  #outline: Outline = emptyOutline();
  #ids = new Set<number>();
  #stop = new AbortController();
  #factsAt = 0;
  #factsDue = false;

  constructor(readonly id: string) {}

  /** @param around the event that has to be there first */
  start(around: string | null): void {
    if (can("evaluations:read")) void this.readFacts();
    if (can("events:read")) void this.#read(around);
  }

  dispose(): void {
    this.#stop.abort();
  }

  /** Reads everything again; what is shown stays until then. */
  refresh(around: string | null): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#outline = emptyOutline();
    this.#ids = new Set();
    this.error.value = null;
    this.start(around);
  }

  async readFacts(): Promise<void> {
    this.#factsAt = Date.now();
    try {
      this.facts.value = await readSession(this.id, this.#stop.signal);
      this.factsError.value = null;
    } catch (error) {
      if (!this.#stop.signal.aborted) this.factsError.value = error;
    }
  }

  /** Reads the facts again until the evaluation that was asked for has its outcome. */
  async awaitEvaluation(): Promise<void> {
    const { signal } = this.#stop;
    await this.readFacts();
    while (!signal.aborted && this.facts.value?.evaluation_state.job) {
      await pause(RESULT_EACH_MS, signal).catch(() => undefined);
      if (!signal.aborted) await this.readFacts();
    }
  }

  /** Waits until every event that was stored at the beginning is here. */
  async whole(): Promise<void> {
    let stop = () => {};
    await new Promise<void>((resolve, reject) => {
      stop = effect(() => {
        if (this.complete.value) resolve();
        else if (this.error.value) reject(this.error.value);
      });
    }).finally(() => stop());
  }

  /** New events change the facts, and after the end a score may come. */
  #renewFacts(): void {
    if (!this.#factsDue || !can("evaluations:read") || Date.now() - this.#factsAt < FACTS_EACH_MS) return;
    this.#factsDue = false;
    void this.readFacts();
  }

  async #read(around: string | null): Promise<void> {
    const { signal } = this.#stop;
    try {
      const first = await this.#first(around, signal);
      await this.#add(first, "first", signal);
      let { next_cursor: next, prev_cursor: previous } = first;
      while (next || previous) {
        if (next) next = (await this.#page(next, "after", signal)).next_cursor;
        if (previous) previous = (await this.#page(previous, "before", signal)).prev_cursor;
      }
      this.complete.value = true;
      await this.#follow(first.watermark, signal);
    } catch (error) {
      if (!signal.aborted) this.error.value = error;
    }
  }

  async #first(around: string | null, signal: AbortSignal): Promise<OutlineAnswer> {
    try {
      return await readOutline(this.id, { around, limit: FIRST_PAGE }, signal);
    } catch (error) {
      if (!around || !(error instanceof ApiError) || error.status === 403) throw error;
      // The event may be gone while the session is there; if not, this fails as well.
      const first = await readOutline(this.id, { limit: FIRST_PAGE }, signal);
      this.missing.value = true;
      return first;
    }
  }

  async #page(cursor: string, place: Place, signal: AbortSignal): Promise<OutlineAnswer> {
    const answer = await readOutline(this.id, { cursor, limit: PAGE }, signal);
    await this.#add(answer, place, signal);
    return answer;
  }

  async #add(answer: OutlineAnswer, place: Place, signal: AbortSignal): Promise<void> {
    const known = this.#outline;
    this.#outline = merge(known, answer, place, this.#ids);
    if (place === "since" && this.#outline.length === known.length) return;
    const outline = this.#outline;
    const structure = await structureInWorker(outline);
    signal.throwIfAborted();
    batch(() => {
      this.session.value = buildSession(outline, structure);
      if (place === "since") this.heardAt.value = Date.now();
    });
  }

  async #follow(first: string, signal: AbortSignal): Promise<void> {
    let watermark = first;
    for (;;) {
      const session = this.session.value;
      if (!session) return;
      const ended = endOf(session);
      const heardAt = Math.max(this.heardAt.value, session.last / 1000);
      const wait = nextPoll(Date.now() - heardAt, document.hidden, ended === null ? null : Date.now() - ended / 1000);
      if (wait === null) return;
      await pause(wait, signal);
      let answer: OutlineAnswer;
      do {
        answer = await readOutline(this.id, { since: watermark, limit: PAGE }, signal);
        watermark = answer.watermark;
        await this.#add(answer, "since", signal);
      } while (answer.columns.id.length >= PAGE);
      this.#factsDue ||= answer.columns.id.length > 0 || ended !== null;
      this.#renewFacts();
    }
  }
}
