import { duration } from "../../../kit/text/formats";
import { type Axis, toAxis } from "../model/axis";
import { eachRun, type Lane, MARK } from "../model/lanes";
import type { Palette, Token } from "../waterfall/palette";

export interface MinimapDrawing {
  width: number;
  height: number;
  /** Where the axis begins, and its pixels. */
  left: number;
  inner: number;
  lanes: Lane[];
  line: [number, number][];
  laneHeight: number;
  axis: Axis;
  /** The chosen part of the folded axis. */
  window: { from: number; to: number };
  /** The present, in a running session. */
  now: number | null;
  palette: Palette;
}

const TOKEN_OF_MARK: Record<number, Token> = {
  [MARK.human]: "k-human",
  [MARK.agent]: "k-agent",
  [MARK.other]: "k-other",
  [MARK.model]: "k-model",
  [MARK.hook]: "k-hook",
  [MARK.tool]: "k-tool",
  [MARK.error]: "err",
};

export function drawMinimap(context: CanvasRenderingContext2D, drawing: MinimapDrawing): void {
  const { width, height, left, inner, axis, window, palette } = drawing;
  const place = (at: number) => left + (at / axis.length) * inner;
  drawGaps(context, drawing, place);
  drawLanes(context, drawing);
  drawContext(context, drawing);
  if (drawing.now !== null) {
    context.fillStyle = palette.accent;
    context.fillRect(Math.round(place(toAxis(axis, drawing.now))), 0, 2, height);
  }
  if (window.from <= 0 && window.to >= axis.length) return;
  const [from, to] = [Math.round(place(window.from)) + 0.5, Math.round(place(window.to)) - 0.5];
  context.fillStyle = palette.bg;
  context.globalAlpha = 0.62;
  context.fillRect(0, 0, from, height);
  context.fillRect(to, 0, width - to, height);
  context.globalAlpha = 1;
  context.strokeStyle = palette.accent;
  context.strokeRect(from, 0.5, Math.max(2, to - from), height - 1);
}

function drawLanes(context: CanvasRenderingContext2D, { lanes, left, laneHeight, palette }: MinimapDrawing): void {
  const thickness = Math.min(10, laneHeight - 4);
  lanes.forEach((lane, index) => {
    const y = 10 + index * laneHeight + (lane.agent < 0 ? 0 : (laneHeight - thickness) / 2 - 3);
    eachRun(lane.marks, (mark, from, to) => {
      context.fillStyle = palette[TOKEN_OF_MARK[mark]!];
      context.globalAlpha = mark === MARK.human ? 0.45 : 0.9;
      context.fillRect(left + from, y, Math.max(1.5, to - from), lane.agent < 0 ? 8 : thickness);
    });
  });
  context.globalAlpha = 1;
}

/** The context fill as a line, scaled to its highest value: small shares would be flat. */
function drawContext(context: CanvasRenderingContext2D, { line, left, height, palette }: MinimapDrawing): void {
  if (line.length < 2) return;
  const highest = Math.max(...line.map(([, fill]) => fill), 0.01);
  const y = (fill: number) => height - 14 - (fill / highest) * (height - 30);
  context.strokeStyle = palette["text-3"];
  context.lineWidth = 1.2;
  context.setLineDash([3, 2]);
  context.beginPath();
  // The first `lineTo` of a path moves there.
  for (const [column, fill] of line) context.lineTo(left + column, y(fill));
  context.stroke();
  context.setLineDash([]);
  context.lineWidth = 1;
  const [column, fill] = line[line.length - 1]!;
  context.fillStyle = palette["text-2"];
  context.beginPath();
  context.arc(left + column, y(fill), 2, 0, Math.PI * 2);
  context.fill();
}

function drawGaps(
  context: CanvasRenderingContext2D,
  { axis, height, palette }: MinimapDrawing,
  place: (at: number) => number,
): void {
  context.font = palette.font;
  context.textBaseline = "bottom";
  for (const gap of axis.gaps) {
    const [from, to] = [place(gap.at), place(gap.at + gap.width)];
    context.fillStyle = palette.bg;
    context.fillRect(from, 0, to - from, height);
    const text = duration(gap.to - gap.from);
    const wide = context.measureText(text).width;
    context.fillStyle = palette["text-3"];
    if (wide < to - from) context.fillText(text, (from + to - wide) / 2, height - 2);
  }
}
