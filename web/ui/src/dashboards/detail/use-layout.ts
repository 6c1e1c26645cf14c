import { useEffect, useRef, useState } from "preact/hooks";
import type { DashboardDetail, PlaceBody } from "../../api/types";
import { announce } from "../../kit/overlay/announce";
import { confirm } from "../../kit/overlay/dialog";
import { guardLeaving } from "../../kit/router";
import { saveLayout } from "../api";
import { samePlaces, settled } from "../model";

/** The places of a dashboard's tiles, and their change. */
export interface Layout {
  places: readonly PlaceBody[];
  editing: boolean;
  /** Why the last attempt to save failed. */
  error: unknown;
  edit: () => void;
  move: (places: PlaceBody[]) => void;
  discard: () => void;
  save: () => Promise<void>;
}

/** Edits a layout. Places that are not saved ask before the page is left, or its tab is closed. */
export function useLayout({ id, tiles }: DashboardDetail, onSaved: () => void): Layout {
  const [draft, setDraft] = useState<PlaceBody[] | null>(null);
  // The saved places, until the dashboard has been read again with them.
  const [saved, setSaved] = useState<PlaceBody[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const stored = settled(
    tiles.map(({ id: tile, pos_x, pos_y, pos_w, pos_h }) => ({ id: tile, pos_x, pos_y, pos_w, pos_h })),
  );
  const dirty = useRef(false);
  dirty.current = draft !== null && !samePlaces(draft, stored);
  useEffect(() => setSaved(null), [tiles]);
  useEffect(() => {
    const ask = () => confirm({ title: "Leave without saving?", verb: "Leave", text: "The layout is not saved." });
    const remove = guardLeaving(async () => !dirty.current || ask());
    const warn = (event: BeforeUnloadEvent) => dirty.current && event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => {
      remove();
      removeEventListener("beforeunload", warn);
    };
  }, []);
  const save = async () => {
    if (!draft) return;
    try {
      await saveLayout(id, draft);
    } catch (problem) {
      return setError(problem);
    }
    setError(null);
    setSaved(draft);
    setDraft(null);
    announce("The layout is saved");
    onSaved();
  };
  const discard = () => {
    setDraft(null);
    setError(null);
  };
  return {
    places: draft ?? saved ?? stored,
    editing: draft !== null,
    error,
    edit: () => setDraft(stored),
    move: setDraft,
    discard,
    save,
  };
}
