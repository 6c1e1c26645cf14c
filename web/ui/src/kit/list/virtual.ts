// The rows of a long list: which are drawn, and how one comes to another. All have the same height.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

// Rows come and go in blocks, so that most frames of a scroll change nothing.
const BLOCK = 8;

// How much of the screen the rows take, until it is measured: the first ones need no layout before they are drawn.
const FIRST_SHARE = 0.75;

export interface Range {
  first: number;
  /** After the last row. */
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

interface Options {
  /** The height of what sticks to the top of the scroller. */
  head?: number;
  /** Up to so many rows, all are drawn. */
  from?: number;
}

/**
 * The rows that a view onto a list shows, with `more` before them and twice as many after them. Pure.
 * @param top the first row in view; negative while the list begins below its top
 */
export function rangeOf(top: number, rows: number, count: number, more: number): Range {
  const first = Math.max(0, Math.min(top, count - rows) - more);
  return { first, last: Math.min(count, Math.max(first + 1, top + rows + 2 * more)) };
}

/** The element itself where it scrolls, else its nearest ancestor that does. */
export function scrollerOf(element: Element): Element {
  let found: Element | null = element;
  while (found && !/auto|scroll/.test(getComputedStyle(found).overflowY)) found = found.parentElement;
  return found ?? document.documentElement;
}

/** The pixels of a list above the view of its scroller; negative while it begins below its top. */
function pixelsAbove(list: Element, scroller: Element): number {
  if (list === scroller) return scroller.scrollTop;
  return scroller.getBoundingClientRect().top - list.getBoundingClientRect().top;
}

/** Follows the scroll position of a list. The list scrolls itself, or with what it stands in. */
export function useVirtual(
  list: RefObject<HTMLElement>,
  count: number,
  rowHeight: number,
  { head = 0, from = 0 }: Options = {},
): Virtual {
  const isVirtual = count > from;
  const scrolled = useRef(0);
  const [view, setView] = useState({ top: 0, height: innerHeight * FIRST_SHARE, width: 0, more: 0 });
  const change = (changes: Partial<typeof view>) =>
    setView((old) => {
      const next = { ...old, ...changes };
      const isSame = (Object.keys(next) as (keyof typeof view)[]).every((key) => next[key] === old[key]);
      return isSame ? old : next;
    });
  useLayoutEffect(() => {
    const element = list.current;
    if (!isVirtual || !element) return;
    const scroller = scrollerOf(element);
    // Sizes are read when they change only: reading them while scrolling would lay the page out twice a frame.
    const top = () => {
      scrolled.current = pixelsAbove(element, scroller);
      return Math.floor(scrolled.current / (rowHeight * BLOCK)) * BLOCK;
    };
    const onScroll = () => change({ top: top() });
    const onSize = () => change({ top: top(), height: scroller.clientHeight, width: scroller.clientWidth });
    scroller.addEventListener("scroll", onScroll, { passive: true });
    const observer = new ResizeObserver(onSize);
    observer.observe(scroller);
    return () => {
      scroller.removeEventListener("scroll", onScroll);
      observer.disconnect();
    };
  }, [isVirtual, count, rowHeight]);
  useEffect(() => {
    if (!isVirtual) return;
    // What is beyond the view comes after the first frame.
    const timer = setTimeout(() => change({ more: BLOCK }));
    return () => clearTimeout(timer);
  }, [isVirtual]);
  const height = view.height - head;
  const rows = Math.ceil(Math.max(0, height) / rowHeight);
  const range = isVirtual ? rangeOf(view.top, rows, count, view.more) : { first: 0, last: count };
  return { ...range, height, width: view.width, scrolled };
}

/** Scrolls so that a row is within the view; to its middle when it was outside. */
export function reveal(list: Element, index: number, rowHeight: number, head = 0): void {
  const scroller = scrollerOf(list);
  const top = index * rowHeight - pixelsAbove(list, scroller);
  const height = scroller.clientHeight - head;
  if (top < 0 || top + rowHeight > height) scroller.scrollTop += top - (height - rowHeight) / 2;
}

/**
 * The row that stands `step` places further than the one at `at`, within a list of `count`. Without a row, -1, the
 * first step enters the list from its end.
 */
export function stepped(at: number, step: number, count: number): number {
  const from = at < 0 && step < 0 ? count : at;
  return Math.max(0, Math.min(count - 1, from + step));
}
