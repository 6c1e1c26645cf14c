import { type MutableRef, useEffect, useRef } from "preact/hooks";
import { remember, remembered } from "../router";
import { useShortcuts } from "../shortcuts";
import { reveal, stepped } from "./virtual";

const ROW = "row";

/** The link or button of a row takes the focus, else the row itself where it can. */
function targetIn(row: HTMLElement | null | undefined): HTMLElement | null {
  return row?.querySelector<HTMLElement>("a, button") ?? row ?? null;
}

/**
 * `j` and `k` move the focus between rows, `Enter` opens one. The row is kept with the history, so
 * that Back and a reload lead to it.
 */
export function useRowKeys<Row>(
  body: MutableRef<HTMLElement | null>,
  rows: readonly Row[],
  idOf: (row: Row) => string,
  height: number,
  onOpen: ((row: Row) => void) | undefined,
): void {
  const current = useRef<string | null>(remembered<string>(ROW) ?? null);
  const restored = useRef(current.current === null);
  const steps = useRef(0);

  const show = (index: number, focus: boolean) => {
    const element = body.current;
    const row = rows[index];
    if (!element || row === undefined) return;
    current.current = idOf(row);
    const find = () => element.querySelector<HTMLElement>(`[data-row="${CSS.escape(idOf(row))}"]`);
    // Rows out of view may not be drawn, so their place is worked out.
    reveal(element, index, height);
    const step = ++steps.current;
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        // A later key has gone on; this row must not take the focus back.
        if (step !== steps.current) return;
        const found = find();
        found?.scrollIntoView({ block: "nearest" });
        if (focus) targetIn(found)?.focus({ preventScroll: true });
      }),
    );
  };
  const indexNow = () => rows.findIndex((row) => idOf(row) === current.current);
  const step = (by: number) => show(stepped(indexNow(), by, rows.length), true);
  const open = () => {
    const row = rows[indexNow()];
    if (row === undefined) return;
    if (onOpen) onOpen(row);
    else targetIn(body.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(idOf(row))}"]`))?.click();
  };
  useShortcuts([
    { keys: "j", label: "Next row", run: () => step(1) },
    { keys: "k", label: "Previous row", run: () => step(-1) },
    { keys: "Enter", label: "Open the row", run: open },
  ]);
  useEffect(() => {
    const element = body.current;
    const onFocus = (event: FocusEvent) => {
      const id = (event.target as Element).closest<HTMLElement>("[data-row]")?.dataset["row"];
      if (id === undefined || id === current.current) return;
      current.current = id;
      remember(ROW, id);
    };
    element?.addEventListener("focusin", onFocus);
    return () => element?.removeEventListener("focusin", onFocus);
  }, []);
  useEffect(() => {
    if (restored.current || !rows.length) return;
    restored.current = true;
    const index = indexNow();
    if (index >= 0) show(index, false);
  }, [rows.length > 0]);
}
