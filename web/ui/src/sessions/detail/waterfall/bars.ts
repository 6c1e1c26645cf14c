// Draws the bars of the rows that are on show. They repeat the row's text as a picture and say nothing more.

import type { Kind } from "../../../kit/list/kinds";
import { compact } from "../../../kit/text/formats";
import { type Axis, toAxis } from "../model/axis";
import { rowText } from "../model/row-text";
import { durationOf, type Session, spanOf } from "../model/session";
import { type Palette, prepare, stripes, type Token } from "./palette";

export interface Drawing {
  session: Session;
  axis: Axis;
  /** The part of the folded axis that is on show. */
  window: { from: number; to: number };
  /** The rows from top to bottom; -1 for one that is not there yet. */
  rows: ArrayLike<number>;
  rowHeight: number;
  /** Where bars stand within a row. */
  top: number;
  thickness: number;
  ticks: number[];
  now: number;
  running: boolean;
  labels: boolean;
}

const TOKEN_OF_KIND: Record<Kind, Token> = {
  agent: "k-agent",
  model: "k-model",
  tool: "k-tool",
  hook: "k-hook",
  human: "k-human",
  error: "err",
  other: "k-other",
};
const LEAST_WIDTH = 2;
const RADIUS = 2;

export function drawBars(canvas: HTMLCanvasElement, width: number, drawing: Drawing, colours: Palette): void {
  const height = drawing.rows.length * drawing.rowHeight;
  const context = prepare(canvas, width, height);
  if (!context) return;
  const { axis, window } = drawing;
  const scale = width / (window.to - window.from);
  const place = (ms: number) => (toAxis(axis, ms) - window.from) * scale;
  drawGrid(context, drawing, place, width, height, colours);
  const striped = stripes(context, colours["k-human"]);
  context.font = colours.font;
  context.textBaseline = "middle";
  for (let line = 0; line < drawing.rows.length; line++) {
    const row = drawing.rows[line]!;
    if (row >= 0) drawRow(context, drawing, row, line * drawing.rowHeight, width, place, colours, striped);
  }
}

type Place = (ms: number) => number;

function drawGrid(
  context: CanvasRenderingContext2D,
  drawing: Drawing,
  place: Place,
  width: number,
  height: number,
  colours: Palette,
): void {
  context.fillStyle = colours.line;
  context.globalAlpha = 0.6;
  for (const tick of drawing.ticks) context.fillRect(Math.round(place(tick)), 0, 1, height);
  context.globalAlpha = 1;
  for (const gap of drawing.axis.gaps) {
    const [left, right] = [place(gap.from), place(gap.to)];
    if (right < 0 || left > width) continue;
    context.fillStyle = colours.bg;
    context.fillRect(left, 0, right - left, height);
    context.strokeStyle = colours["line-2"];
    context.setLineDash([2, 3]);
    context.beginPath();
    for (const x of [left, right]) {
      context.moveTo(Math.round(x) + 0.5, 0);
      context.lineTo(Math.round(x) + 0.5, height);
    }
    context.stroke();
    context.setLineDash([]);
  }
  if (drawing.running) {
    context.fillStyle = colours.accent;
    context.fillRect(Math.round(place(drawing.now)), 0, 1, height);
  }
}

function drawRow(
  context: CanvasRenderingContext2D,
  drawing: Drawing,
  row: number,
  y: number,
  width: number,
  place: Place,
  colours: Palette,
  striped: CanvasPattern | string,
): void {
  const { session, now, top, thickness } = drawing;
  const text = rowText(session, row);
  const span = spanOf(session, row, now);
  const left = place(span.from);
  const right = Math.max(place(span.to), left + LEAST_WIDTH);
  if (right < 0 || left > width) return;
  const failed = text.failed && text.kind !== "agent";
  const colour = failed ? colours.err : colours[TOKEN_OF_KIND[text.kind]];
  // Far outside of the canvas numbers lose their precision, so bars are cut a little beyond its edges.
  const from = Math.max(-4, left);
  const to = Math.min(width + 4, right);
  context.fillStyle = text.kind === "human" && !failed ? striped : colour;
  if (durationOf(session, row, now) === null) {
    context.fillRect(from, y + top - 3, 2, thickness + 6);
    return;
  }
  context.globalAlpha = text.kind === "agent" ? 0.35 : 1;
  if (span.open && drawing.running) context.fillStyle = fading(context, from, to, colour);
  context.beginPath();
  context.roundRect(from, y + top, to - from, thickness, span.open ? [RADIUS, 0, 0, RADIUS] : RADIUS);
  context.fill();
  context.globalAlpha = 1;
  if (failed) outline(context, from, to, y + top, thickness, colour);
  if (drawing.labels && text.inputTokens !== null && text.outputTokens !== null && text.kind === "model") {
    label(
      context,
      `${compact(text.inputTokens)} → ${compact(text.outputTokens)}`,
      from,
      to,
      y + top + thickness / 2,
      width,
      colours,
    );
  }
}

/** An open bar grows, so its end is not an edge. */
function fading(context: CanvasRenderingContext2D, from: number, to: number, colour: string): CanvasGradient {
  const gradient = context.createLinearGradient(from, 0, to, 0);
  gradient.addColorStop(0, colour);
  gradient.addColorStop(0.7, colour);
  gradient.addColorStop(1, colour.replace("rgb(", "rgba(").replace(")", ", 0.4)"));
  return gradient;
}

function outline(
  context: CanvasRenderingContext2D,
  from: number,
  to: number,
  y: number,
  thickness: number,
  colour: string,
): void {
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.beginPath();
  context.roundRect(from - 1.75, y - 1.75, to - from + 3.5, thickness + 3.5, RADIUS + 1);
  context.stroke();
  context.lineWidth = 1;
}

function label(
  context: CanvasRenderingContext2D,
  text: string,
  from: number,
  to: number,
  y: number,
  width: number,
  colours: Palette,
): void {
  const wide = context.measureText(text).width;
  context.fillStyle = colours["text-3"];
  if (to + 6 + wide <= width) context.fillText(text, to + 6, y + 0.5);
  else if (from - 6 - wide >= 0) context.fillText(text, from - 6 - wide, y + 0.5);
}
