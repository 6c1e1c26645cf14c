// Which rows of a long list are drawn.
import { type MutableRef, useEffect, useState } from "preact/hooks";

export interface Slice {
  start: number;
  end: number;
}

/**
 * The rows that a window onto a list shows, with some more at both ends. Pure.
 * @param top pixels of the list above the window; negative while the list begins below its top
 */
export function sliceOf(top: number, height: number, row: number, count: number, more = 12): Slice {
  const start = Math.max(0, Math.floor(top / row) - more);
  const end = Math.min(count, Math.ceil((top + height) / row) + more);
  return { start: Math.min(start, Math.max(0, count - 1)), end: Math.max(end, Math.min(count, start + 1)) };
}

/** The nearest ancestor that scrolls. */
export function scrollerOf(element: Element): Element {
  let parent = element.parentElement;
  while (parent && !/auto|scroll/.test(getComputedStyle(parent).overflowY)) parent = parent.parentElement;
  return parent ?? document.documentElement;
}

const FIRST_ROWS = 40;

/** Follows the scroll position of the list's container. Below `from` rows everything is drawn. */
export function useSlice(list: MutableRef<HTMLElement | null>, count: number, row: number, from = 200): Slice {
  const virtual = count > from;
  // A long list begins with a screen of rows: more of them would take longer than all the rest.
  const [slice, setSlice] = useState<Slice>({ start: 0, end: Math.min(count, virtual ? FIRST_ROWS : from) });
  useEffect(() => {
    const element = list.current;
    if (!virtual || !element) return;
    const scroller = scrollerOf(element);
    const measure = () => {
      const window = scroller.getBoundingClientRect();
      const top = window.top - element.getBoundingClientRect().top;
      const next = sliceOf(top, scroller.clientHeight, row, count);
      setSlice((now) => (now.start === next.start && now.end === next.end ? now : next));
    };
    measure();
    scroller.addEventListener("scroll", measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(scroller);
    return () => {
      scroller.removeEventListener("scroll", measure);
      observer.disconnect();
    };
  }, [virtual, count, row]);
  return virtual ? { start: Math.min(slice.start, count), end: Math.min(slice.end, count) } : { start: 0, end: count };
}
