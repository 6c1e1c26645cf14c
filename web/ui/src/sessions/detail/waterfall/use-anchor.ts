import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { reveal } from "../../../kit/list/virtual";
import type { View } from "../view";
import { mainEvent } from "./columns";

interface Layout {
  rowHeight: number;
  /** The height of what sticks to the top. */
  head: number;
  /** Pixels of the view, without its head. */
  height: number;
  /** How many placeholders stand before the first row. */
  before: number;
  /** Where the list stands, in pixels. */
  scrolled: { current: number };
}

/**
 * Keeps a row in place while others come above it: the chosen one if it is in view, else the first. Rows also come
 * between the two, where an agent ends. A row that is chosen is brought into view.
 */
export function useAnchor(
  view: View,
  scroller: { current: HTMLElement | null },
  { rowHeight, head, height, before, scrolled: top }: Layout,
): void {
  const anchor = useRef<{ event: number; offset: number } | null>(null);
  const revealed = useRef(-1);
  const visible = view.visible.value;
  const session = view.session.value!;
  const chosen = view.chosen.value;
  const chosenRow = useRef(-1);
  useLayoutEffect(() => {
    const element = scroller.current!;
    const kept = anchor.current;
    if (kept) {
      const event = session.outline.id.indexOf(kept.event);
      const index = event < 0 ? -1 : visible.indexOf(session.rows.ofEvent[event]!);
      if (index >= 0) element.scrollTop = top.current = (index + before) * rowHeight + kept.offset;
    }
    return () => {
      const first = Math.floor(top.current / rowHeight);
      const chosenIndex = visible.indexOf(chosenRow.current) + before;
      const inView = chosenIndex >= Math.max(before, first) && chosenIndex * rowHeight < top.current + height;
      const index = inView ? chosenIndex : first;
      const row = visible[index - before];
      // At its top the list stays there.
      anchor.current =
        row === undefined || (!inView && top.current === 0)
          ? null
          : { event: session.outline.id[mainEvent(session, row)]!, offset: top.current - index * rowHeight };
    };
  }, [visible, before, rowHeight]);
  // After the effect above, whose end needs the row of the session that it began with.
  useLayoutEffect(() => void (chosenRow.current = view.chosenRow.value));
  useEffect(() => {
    const id = chosen < 0 ? -1 : session.outline.id[chosen]!;
    if (id === revealed.current) return;
    const index = visible.indexOf(view.chosenRow.value);
    if (id >= 0 && index < 0) return;
    revealed.current = id;
    if (id < 0) return;
    reveal(scroller.current!, index + before, rowHeight, head);
    top.current = scroller.current!.scrollTop;
  }, [chosen, visible]);
}
