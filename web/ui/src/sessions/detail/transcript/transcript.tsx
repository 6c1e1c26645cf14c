import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { exact } from "../../../kit/text/formats";
import type { Turn } from "../model/transcript";
import { buildTurns } from "../model/transcript";
import type { Payloads } from "../payloads";
import type { View } from "../view";
import { ContentHint } from "./content-hint";
import { TurnArticle } from "./turn";

const CHUNK = 25;
const GUESS = 88;
/** More turns than anybody prints take the browser minutes to lay out. */
const MOST_PRINTED = 3000;

/** The conversation. Turns are put into the page in chunks near the view; the others keep their height. */
export function Transcript({ view, payloads }: { view: View; payloads: Payloads }) {
  const session = view.session.value!;
  const scroller = useRef<HTMLDivElement>(null);
  const kept = view.keptEvents.value;
  const turns = useMemo(() => {
    const all = buildTurns(session);
    return kept ? all.filter((turn) => kept[turn.event] || (turn.close >= 0 && kept[turn.close])) : all;
  }, [session, kept]);
  const printing = view.printing.value;
  const chunks = useMemo(() => chunked(printing ? turns.slice(0, MOST_PRINTED) : turns), [turns, printing]);
  const chosen = view.chosen.value;
  const target = chosen < 0 ? -1 : turns.findIndex((turn) => turn.event === chosen || turn.close === chosen);
  useEffect(() => {
    if (target < 0) return;
    const chunk = scroller.current!.children[Math.floor(target / CHUNK)];
    const article = chunk?.querySelector(`[data-event="${session.outline.id[turns[target]!.event]}"]`);
    (article ?? chunk)?.scrollIntoView({ block: "nearest" });
  }, [target]);
  return (
    <>
      <ContentHint turns={turns} ids={session.outline.id} payloads={payloads} />
      <div
        class="transcript"
        ref={scroller}
        tabIndex={0}
        role="feed"
        aria-label="Transcript"
        aria-busy={!view.source.complete.value}
      >
        {chunks.map((chunk, index) => (
          <Chunk
            key={session.outline.id[chunk[0]!.event]}
            turns={chunk}
            first={index * CHUNK}
            view={view}
            payloads={payloads}
            scroller={scroller}
            holds={target >= index * CHUNK && target < (index + 1) * CHUNK}
          />
        ))}
        {printing && turns.length > MOST_PRINTED && (
          <p class="side-note">
            {exact(MOST_PRINTED)} of {exact(turns.length)} turns are printed. Filter the events to print others.
          </p>
        )}
        {turns.length === 0 && <p class="side-note soft">No turn matches.</p>}
      </div>
    </>
  );
}

function chunked(turns: Turn[]): Turn[][] {
  return Array.from({ length: Math.ceil(turns.length / CHUNK) }, (_, index) =>
    turns.slice(index * CHUNK, (index + 1) * CHUNK),
  );
}

interface ChunkProps {
  turns: Turn[];
  first: number;
  view: View;
  payloads: Payloads;
  scroller: { current: HTMLDivElement | null };
  /** Whether the chosen turn is inside. */
  holds: boolean;
}

function Chunk({ turns, first, view, payloads, scroller, holds }: ChunkProps) {
  const element = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState(first === 0);
  const height = useRef(turns.length * GUESS);
  const shown = near || holds || view.printing.value;
  useEffect(() => {
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry!.isIntersecting && element.current) height.current = element.current.offsetHeight;
        setNear(entry!.isIntersecting);
      },
      { root: scroller.current, rootMargin: "600px 0px" },
    );
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    element.current!.style.minHeight = shown ? "" : `${height.current}px`;
  }, [shown]);
  return (
    <div ref={element} class="transcript-chunk" role="presentation">
      {shown &&
        turns.map((turn, index) => (
          <TurnArticle key={turn.event} turn={turn} place={first + index + 1} view={view} payloads={payloads} />
        ))}
    </div>
  );
}
