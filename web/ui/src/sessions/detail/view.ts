// The state of the views of a session, derived from its events and the URL.
import { computed, type Signal, signal } from "@preact/signals";
import { windowOn } from "./model/axis";
import { countOnes, isFiltered, passing, rowsWith } from "./model/filters";
import { matches } from "./model/find";
import { stateOf } from "./model/live";
import { indexOfEvent } from "./model/outline";
import { axisOf, endOf, openCalls, type Scene, type Session, spanOf } from "./model/session";
import { visibleRows } from "./model/tree";
import type { Source } from "./source";
import { chosenEvent, filters, foldedAgents, hidesOthers, searchText, showsGaps } from "./state";

export class View {
  /** Milliseconds since 1970; moves each second while the session runs. */
  readonly clock = signal(Date.now());
  /** Ids of the events whose payloads hold the text of the search. */
  readonly inPayload: Signal<Set<number> | null> = signal(null);
  /** Why payloads could not be searched; empty if they could. */
  readonly searchError = signal("");

  /** Whether everything has to be in the page, for paper. */
  readonly printing = signal(false);

  constructor(readonly source: Source) {}

  readonly session = computed<Session | null>(() => this.source.session.value);

  readonly endedAt = computed<number | null>(() => {
    const { facts } = this.source;
    if (facts.value?.ended_at) return Date.parse(facts.value.ended_at);
    const end = this.session.value && endOf(this.session.value);
    return end ? end / 1000 : null;
  });

  readonly lastEventAt = computed(() => {
    const { session } = this;
    return session.value?.outline.length
      ? session.value.last / 1000
      : Date.parse(this.source.facts.value?.last_event_at ?? "");
  });

  readonly state = computed(() => stateOf(this.endedAt.value, this.lastEventAt.value, this.clock.value));

  /** The end of open calls in milliseconds since the first event: the present, or the last event. */
  readonly now = computed(() => {
    const session = this.session.value;
    if (!session) return 0;
    const last = (session.last - session.begin) / 1000;
    return this.state.value === "running" ? Math.max(last, this.clock.value - session.begin / 1000) : last;
  });

  readonly axis = computed(() => {
    const session = this.session.value;
    return session && axisOf(session, this.now.value, this.state.value === "running", !showsGaps.value);
  });

  /** Whether there is a gap that could be folded. */
  readonly hasGaps = computed(() => {
    if (!showsGaps.value) return (this.axis.value?.gaps.length ?? 0) > 0;
    const session = this.session.value;
    return session !== null && axisOf(session, this.now.value, this.state.value === "running", true).gaps.length > 0;
  });

  /** The part of the folded axis that is on show. */
  readonly window = computed(() => {
    const axis = this.axis.value;
    return axis ? windowOn(axis, filters.value.window) : { from: 0, to: 1 };
  });

  /** What the strip above the rows and the panel beside them draw. */
  readonly scene = computed<Scene | null>(() => {
    const session = this.session.value;
    const axis = this.axis.value;
    return session && axis ? { session, axis, now: this.now.value } : null;
  });

  readonly #passing = computed(() => {
    const session = this.session.value;
    if (!session || !isFiltered(filters.value)) return null;
    const events = passing(session.outline, filters.value);
    const { window } = filters.value;
    if (window) {
      for (let event = 0; event < events.length; event++) {
        const at = (session.outline.ts[event]! - session.begin) / 1000;
        if (at < window.from || at > window.to) events[event] = 0;
      }
    }
    return events;
  });

  /** 1 for each event that filters and "Hide others" let through; null for all. */
  readonly keptEvents = computed(() => {
    const passed = this.#passing.value;
    const found = hidesOthers.value ? this.matching.value : null;
    if (!passed || !found) return passed ?? found;
    return passed.map((bit, event) => bit & found[event]!);
  });

  /** The number of events that pass the filters; null without filters. */
  readonly shown = computed(() => this.#passing.value && countOnes(this.#passing.value));

  readonly matching = computed(() => {
    const session = this.session.value;
    return session && searchText.value ? matches(session.outline, searchText.value, this.inPayload.value) : null;
  });

  readonly matchCount = computed(() => (this.matching.value ? countOnes(this.matching.value) : 0));

  readonly #kept = computed(() => {
    const session = this.session.value;
    if (!session) return null;
    const events = this.#passing.value;
    const found = hidesOthers.value ? this.matching.value : null;
    if (!events && !found) return null;
    const kept = events ? rowsWith(session.rows, events) : new Uint8Array(session.rows.length).fill(1);
    if (events && filters.value.window) this.#addCrossing(session, kept);
    if (!found) return kept;
    const matched = rowsWith(session.rows, found);
    return kept.map((bit, row) => bit & matched[row]!);
  });

  /** Calls that began before the visible time and end after it are on show as well. */
  #addCrossing(session: Session, kept: Uint8Array): void {
    const { window, ...others } = filters.value;
    const all = rowsWith(session.rows, passing(session.outline, { ...others, window: null }));
    for (let row = 0; row < kept.length; row++) {
      if (kept[row] || !all[row] || session.rows.isAgent[row]) continue;
      const span = spanOf(session, row, this.now.peek());
      if (span.from < window!.to && span.to > window!.from) kept[row] = 1;
    }
  }

  readonly folded = computed<ReadonlySet<number>>(() => {
    const session = this.session.value;
    const wanted = new Set(foldedAgents.value);
    const places = new Set<number>();
    session?.outline.agents.forEach((agent, place) => {
      if (wanted.has(agent.agent_id)) places.add(place);
    });
    return places;
  });

  readonly visible = computed(() => {
    const session = this.session.value;
    return session ? visibleRows(session.rows, this.folded.value, this.#kept.value) : new Int32Array();
  });

  /** The index of the chosen event, or -1. */
  readonly chosen = computed(() =>
    this.session.value ? indexOfEvent(this.session.value.outline, chosenEvent.value) : -1,
  );

  readonly chosenRow = computed(() =>
    this.chosen.value < 0 ? -1 : this.session.value!.rows.ofEvent[this.chosen.value]!,
  );

  readonly open = computed(() => (this.session.value ? openCalls(this.session.value) : []));
}
