// Colours of the tokens as canvas wants them. Custom properties keep `light-dark()` unresolved, so a probe resolves
// them.
import { signal } from "@preact/signals";

const TOKENS = [
  "k-model",
  "k-tool",
  "k-human",
  "k-hook",
  "k-agent",
  "k-other",
  "err",
  "warn",
  "accent",
  "line",
  "line-2",
  "text",
  "text-2",
  "text-3",
  "bg",
  "panel",
  "agent-1",
  "agent-2",
  "agent-3",
  "agent-4",
  "agent-5",
  "agent-6",
  "agent-7",
  "agent-8",
] as const;

export type Token = (typeof TOKENS)[number];
export type Palette = Record<Token, string> & { font: string };

function resolve(): Palette {
  // All probes at once: the browser computes the styles a single time.
  const box = document.createElement("div");
  box.hidden = true;
  const probes = TOKENS.map((token) => {
    const probe = document.createElement("span");
    probe.style.color = `var(--${token})`;
    return probe;
  });
  box.append(...probes);
  document.body.append(box);
  const colours = Object.fromEntries(TOKENS.map((token, at) => [token, getComputedStyle(probes[at]!).color]));
  const font = getComputedStyle(document.body).fontFamily;
  box.remove();
  return { ...(colours as Record<Token, string>), font: `11px ${font}` };
}

let current: Palette | null = null;
/** Counts the changes of the theme; who draws reads it, to draw again. */
export const themes = signal(0);

function changed(): void {
  current = null;
  themes.value++;
}

export function palette(): Palette {
  if (!current) {
    current = resolve();
    watch();
  }
  return current;
}

let watched = false;
function watch(): void {
  if (watched) return;
  watched = true;
  new MutationObserver(changed).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

/** The token of an agent's rail and lane, by its place. */
export function agentToken(place: number): Token {
  return `agent-${(place % 8) + 1}` as Token;
}

/** Sizes a canvas for the screen's pixels, clears it, and returns a context that counts in CSS pixels. */
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

const striped = new Map<string, CanvasPattern>();

/** Diagonal stripes of a colour: time in which people, not machines, are at work. */
export function stripes(context: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
  const known = striped.get(colour) ?? makeStripes(context, colour);
  if (known) striped.set(colour, known);
  return known ?? colour;
}

function makeStripes(context: CanvasRenderingContext2D, colour: string): CanvasPattern | null {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const brush = tile.getContext("2d");
  if (!brush) return null;
  brush.fillStyle = colour;
  brush.globalAlpha = 0.14;
  brush.fillRect(0, 0, 8, 8);
  brush.globalAlpha = 0.45;
  brush.beginPath();
  for (const shift of [-8, 0, 8]) {
    brush.moveTo(shift, 8);
    brush.lineTo(shift + 8, 0);
    brush.lineTo(shift + 12, 0);
    brush.lineTo(shift + 4, 8);
    brush.closePath();
  }
  brush.fill();
  return context.createPattern(tile, "repeat");
}
