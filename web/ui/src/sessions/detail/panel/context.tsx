import { Figure } from "../../../kit/charts/figure";
import { linePath } from "../../../kit/charts/paths";
import { linear, ticks } from "../../../kit/charts/scale";
import { percent } from "../../../kit/text/formats";
import { type ContextLine, contextByAgent } from "../model/context";
import type { Scene } from "../model/session";
import { agentToken } from "../waterfall/palette";

const [WIDTH, HEIGHT] = [404, 86];
const [LEFT, TOP, BOTTOM] = [40, 8, 68];
const MOST_TICKS = 2;

/** How full the context windows of the models were, a line for each agent. Nothing where no model reported it. */
export function Context({ scene }: { scene: Scene }) {
  const lines = contextByAgent(scene, WIDTH - LEFT);
  if (lines.length === 0) return null;
  const { agents } = scene.session.outline;
  const highest = Math.max(...lines.map(highestOf));
  const marks = ticks(0, highest * 100, MOST_TICKS);
  const y = linear(0, marks.at(-1)! / 100, BOTTOM, TOP);
  const nameOf = ({ agent }: ContextLine) => agents[agent]!.agent_id;
  const colorOf = ({ agent }: ContextLine) => `var(--${agentToken(agent)})`;
  return (
    <section class="context">
      <h2>Context</h2>
      <Figure
        label={`Context, ${percent(highest)} at most`}
        legend={lines.map((line) => ({ name: nameOf(line), color: colorOf(line) }))}
        table={{
          head: ["Agent", "Highest", "Newest"],
          rows: lines.map((line) => [nameOf(line), percent(highestOf(line)), percent(line.latest)]),
        }}
      >
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`}>
          {marks.map((mark) => (
            <g key={mark}>
              <line class="chart-grid" x1={LEFT} x2={WIDTH} y1={y(mark / 100)} y2={y(mark / 100)} />
              <text x={LEFT - 6} y={y(mark / 100) + 4} class="chart-tick" text-anchor="end">
                {mark === 0 ? "0" : `${mark} %`}
              </text>
            </g>
          ))}
          {lines.map((line) => (
            <path
              key={line.agent}
              class="chart-line"
              d={linePath(line.columns, line.fills, (column) => LEFT + column, y)}
              stroke={colorOf(line)}
            />
          ))}
        </svg>
      </Figure>
    </section>
  );
}

const highestOf = ({ fills }: ContextLine) => Math.max(...fills);
