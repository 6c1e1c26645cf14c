import type { EventSummary } from "../api/types";
import { useLoad } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { duration } from "../kit/text/formats";
import { Text } from "../kit/text/text";
import { Moment } from "../kit/text/values";
import { readCalls } from "./api";
import { type Family, familyOf, pairOf } from "./pair";

interface Props {
  event: EventSummary;
  /** The event's address on the page of its session. */
  address: string;
  onChoose: (id: number) => void;
}

/** Start and end of the event's call, each a way to the other. */
export function PairView(props: Props) {
  const family = familyOf(props.event.event_type);
  if (!family) return <p class="side-note soft">Events of this type stand alone.</p>;
  return <Calls {...props} family={family} />;
}

function Calls({ event, address, onChoose, family }: Props & { family: Family }) {
  const load = useLoad(`${event.session_id} ${event.id}`, (options) => readCalls(event, family, options));
  return (
    <Loaded load={load}>
      {(outline) => {
        if (!load.current) return null;
        const pair = pairOf(outline, event.id, family);
        const whole = outline.prev_cursor === null && outline.next_cursor === null;
        if (typeof pair === "string")
          return (
            <p class="side-note soft">
              {pair === "open" && whole
                ? "The other event of this call did not arrive."
                : "Which event belongs to it is not clear from here."}{" "}
              <a class="link" href={address}>
                Open in the session
              </a>
            </p>
          );
        return (
          <dl class="facts-list pair">
            <div>
              <dt>Latency</dt>
              <dd title={`${pair.latency} ms`}>{duration(pair.latency)}</dd>
            </div>
            {[pair.start, pair.end].map((end) => (
              <div key={end.id}>
                <dt>{end === pair.start ? "Start" : "End"}</dt>
                <dd>
                  <button
                    type="button"
                    class="link"
                    aria-current={end.id === event.id}
                    onClick={() => onChoose(end.id)}
                  >
                    {end.type}
                  </button>
                  <span class="dim">
                    {" "}
                    <Moment at={end.ts} />
                  </span>
                  <span class="pair-summary">
                    <Text>{end.summary}</Text>
                  </span>
                </dd>
              </div>
            ))}
          </dl>
        );
      }}
    </Loaded>
  );
}
