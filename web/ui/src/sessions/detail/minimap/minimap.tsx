import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useNarrow } from "../../../kit/media";
import { compact, duration, percent } from "../../../kit/text/formats";
import { clock, fromAxis, windowOn } from "../model/axis";
import { latestContext } from "../model/context";
import { buildLanes, contextLine, MOST_LANES } from "../model/lanes";
import type { Scene } from "../model/session";
import { filters } from "../state";
import { useLater } from "../use-later";
import type { View } from "../view";
import { agentToken, palette, prepare, themes } from "../waterfall/palette";
import { drawMinimap } from "./draw";
import { commit, type Drag, dragged, type Stretch, stepped } from "./window";

const NAMES = 150;
const LANE = 18;
const LEAST = 72;

/** The whole session in one strip; what is chosen in it is on show in the waterfall. */
export function Minimap({ view }: { view: View }) {
  const scene = useLater(view.scene.value);
  const { height } = layoutOf(view.session.value!.outline.agents.length);
  return scene ? <Strip view={view} scene={scene} /> : <div class="minimap" style={{ height: `${height}px` }} />;
}

/** Several agents have a lane each, a single one a lane for each kind of work. */
function layoutOf(agents: number) {
  const several = agents > 1;
  const lanes = Math.min(agents, MOST_LANES);
  const laneHeight = several ? Math.max(8, Math.min(LANE, 108 / lanes)) : 12;
  return { several, laneHeight, height: Math.max(LEAST, several ? lanes * laneHeight + 14 : 0) };
}

function Strip({ view, scene }: { view: View; scene: Scene }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [drag, setDrag] = useState<Drag | null>(null);
  const narrow = useNarrow();
  const { session, axis, now } = scene;
  const agents = session.outline.agents;
  const { several, laneHeight, height } = layoutOf(agents.length);
  const window = windowOn(axis, filters.value.window);
  const edge = narrow ? 16 : 20;
  const left = several && !narrow ? NAMES : edge;
  const inner = Math.max(1, Math.round(width - left - edge));
  const lanes = useMemo(() => buildLanes(session, axis, inner, now), [session, axis, inner]);
  const line = useMemo(() => contextLine(session, axis, inner), [session, axis, inner]);
  const chosen: Stretch = drag ? drag.stretch : window;
  useWidth(canvas, setWidth);
  // Read, so that the strip is drawn again in the colours of another theme.
  void themes.value;
  useLayoutEffect(() => {
    const brush = canvas.current && width > 0 && prepare(canvas.current, width, height);
    if (!brush) return;
    drawMinimap(brush, {
      width,
      height,
      left,
      inner,
      lanes,
      line,
      laneHeight,
      axis,
      window: chosen,
      palette: palette(),
      now: view.state.value === "running" ? now : null,
    });
  });
  const place = (event: PointerEvent) => {
    const x = event.clientX - canvas.current!.getBoundingClientRect().left - left;
    return Math.max(0, Math.min(axis.length, (x / inner) * axis.length));
  };
  const reach = (6 / inner) * axis.length;
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    setDrag(dragged.begin(place(event), window, axis, reach));
  };
  const onPointerMove = (event: PointerEvent) => drag && setDrag(dragged.move(drag, place(event), axis));
  const onPointerUp = () => {
    if (drag) commit(axis, dragged.end(drag, axis, reach));
    setDrag(null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = stepped(event.key, window, axis);
    if (!next || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    commit(axis, next, true);
  };
  const say = (at: number) => clock(fromAxis(axis, at));
  const context = useMemo(() => latestContext(session.outline), [session]);
  return (
    <div
      class="minimap"
      role="slider"
      tabIndex={0}
      aria-label="Visible time"
      style={{ height: `${height}px` }}
      aria-valuemin={0}
      aria-valuemax={Math.round(axis.end / 1000)}
      aria-valuenow={Math.round(fromAxis(axis, chosen.from) / 1000)}
      aria-valuetext={`${say(chosen.from)} to ${say(chosen.to)} of ${clock(axis.end)}`}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={() => setDrag(null)}
      onDblClick={() => commit(axis, { from: 0, to: axis.length })}
      onKeyDown={onKeyDown}
    >
      <canvas ref={canvas} aria-hidden="true" />
      {several && !narrow && (
        <ul class="minimap-names" aria-hidden="true">
          {agents.slice(0, lanes.length).map((agent, at) => (
            <li key={agent.agent_id} style={{ height: `${laneHeight}px` }}>
              <i class="dot" style={{ background: `var(--${agentToken(at)})` }} />
              <span>
                {at === MOST_LANES - 1 && agents.length > MOST_LANES
                  ? `${agents.length - at} more agents`
                  : agent.agent_id}
              </span>
            </li>
          ))}
        </ul>
      )}
      {!several && !narrow && <span class="minimap-note minimap-start">0:00</span>}
      {context && !narrow && (
        <span class="minimap-note minimap-end">
          context {percent(context.fill)}
          {context.window && ` of ${compact(context.window).replace(".0", "")}`}
        </span>
      )}
      {axis.gaps.length > 0 && <span class="visually-hidden">{gapText(axis.gaps)}</span>}
    </div>
  );
}

function gapText(gaps: readonly { from: number; to: number }[]): string {
  const longest = Math.max(...gaps.map((gap) => gap.to - gap.from));
  return `${gaps.length === 1 ? "1 gap is" : `${gaps.length} gaps are`} folded, the longest of ${duration(longest)}`;
}

function useWidth(canvas: { current: HTMLCanvasElement | null }, set: (width: number) => void): void {
  useLayoutEffect(() => {
    const element = canvas.current!;
    const observer = new ResizeObserver(() => set(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
}
