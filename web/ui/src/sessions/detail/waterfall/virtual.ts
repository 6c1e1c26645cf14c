// Which rows of a long list are within the view, and the scrolling that keeps them in place.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useLater } from "../use-later";

// Rows come and go in blocks, so that most frames of a scroll change nothing.
const BLOCK = 8;

// How much of the screen the rows take, until it is measured: the first ones need no layout before they are drawn.
const FIRST_SHARE = 0.75;

export interface Range {
  first: number;
  last: number;
}

export interface Virtual extends Range {
  /** Pixels of the view, without its head. */
  height: number;
  /** 0 until it is measured, which the browser does before the first frame. */
  width: number;
  /**
   * How far the list was scrolled when it last moved, in pixels. To ask the element in the middle of a change would lay
   * the page out once more.
   */
  scrolled: { current: number };
}

/** @param head the height of what sticks to the top of the scroller */
export function useVirtual(scroller: RefObject<HTMLElement>, count: number, rowHeight: number, head: number): Virtual {
  const scrolled = useRef(0);
  const [view, setView] = useState({ top: 0, height: innerHeight * FIRST_SHARE, width: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const change = (changes: Partial<typeof view>) =>
      setView((old) => {
        const next = { ...old, ...changes };
        return next.top === old.top && next.height === old.height && next.width === old.width ? old : next;
      });
    // Sizes are read when they change only: reading them while scrolling would lay the page out twice a frame.
    const top = () => {
      scrolled.current = element.scrollTop;
      return Math.floor(scrolled.current / (rowHeight * BLOCK)) * BLOCK;
    };
    const onScroll = () => change({ top: top() });
    const onSize = () => change({ top: top(), height: element.clientHeight, width: element.clientWidth });
    element.addEventListener("scroll", onScroll, { passive: true });
    const observer = new ResizeObserver(onSize);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", onScroll);
      observer.disconnect();
    };
  }, [rowHeight]);
  const rows = Math.ceil(Math.max(0, view.height - head) / rowHeight);
  // What is beyond the view comes after the first frame.
  const more = useLater(true) ? BLOCK : 0;
  const first = Math.max(0, Math.min(view.top, count - rows) - more);
  return {
    first,
    last: Math.min(count, view.top + rows + 2 * more),
    height: view.height - head,
    width: view.width,
    scrolled,
  };
}

/** Scrolls so that a row is within the view; to its middle when it was outside. */
export function reveal(element: HTMLElement, index: number, rowHeight: number, head: number): void {
  const top = index * rowHeight;
  const height = element.clientHeight - head;
  if (top >= element.scrollTop && top + rowHeight <= element.scrollTop + height) return;
  element.scrollTop = Math.max(0, top - (height - rowHeight) / 2);
}
