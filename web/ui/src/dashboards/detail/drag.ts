import type { PlaceBody } from "../../api/types";
import { scrollerOf } from "../../kit/list/virtual";
import { COLUMNS, moved } from "../model";

interface Drag {
  places: readonly PlaceBody[];
  /** The tile that moves. */
  id: string;
  /** Whether the pointer changes its size in place of its place. */
  sizes: boolean;
  onPlaces: (places: PlaceBody[]) => void;
}

/** The pointer scrolls the page this close to its edges, in pixels, by that much. */
const EDGE = 40;
const SCROLLED = 24;

/** Follows the pointer until it is released. Escape puts the tiles back. */
export function startDrag(event: PointerEvent, grid: HTMLElement, { places, id, sizes, onPlaces }: Drag): void {
  // The button keeps the focus, so that arrows go on where the pointer stopped.
  event.preventDefault();
  const target = event.currentTarget as HTMLElement;
  target.querySelector("button")?.focus();
  target.setPointerCapture(event.pointerId);
  const scroller = scrollerOf(grid);
  const from = { x: event.clientX, y: event.clientY + scroller.scrollTop };
  const style = getComputedStyle(grid);
  const gap = parseFloat(style.columnGap);
  const inner = grid.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const pitch = { x: (inner + gap) / COLUMNS, y: parseFloat(style.gridAutoRows) + parseFloat(style.rowGap) };
  const move = (next: PointerEvent) => {
    const { top, bottom } = scroller.getBoundingClientRect();
    if (next.clientY > bottom - EDGE) scroller.scrollTop += SCROLLED;
    else if (next.clientY < top + EDGE) scroller.scrollTop -= SCROLLED;
    const x = Math.round((next.clientX - from.x) / pitch.x);
    const y = Math.round((next.clientY + scroller.scrollTop - from.y) / pitch.y);
    onPlaces(moved(places, id, sizes ? { w: x, h: y } : { x, y }));
  };
  const back = (key: KeyboardEvent) => {
    if (key.key !== "Escape") return;
    key.stopPropagation();
    onPlaces([...places]);
    target.releasePointerCapture(event.pointerId);
  };
  const stop = () => {
    target.removeEventListener("pointermove", move);
    target.removeEventListener("lostpointercapture", stop);
    removeEventListener("keydown", back, true);
  };
  target.addEventListener("pointermove", move);
  target.addEventListener("lostpointercapture", stop);
  addEventListener("keydown", back, true);
}
