// Places of tiles on the grid, and the values of their parameters. Pure functions.
import type { PlaceBody, QueryRow, TileRow } from "../api/types";
import type { ChartFields } from "../kit/results/model";
import type { Bounds } from "../kit/time/time";

export const COLUMNS = 12;
const LEAST_WIDTH = 2;
const LEAST_HEIGHT = 2;
const MOST_HEIGHT = 24;

function overlap(a: PlaceBody, b: PlaceBody): boolean {
  return (
    a.pos_x < b.pos_x + b.pos_w &&
    b.pos_x < a.pos_x + a.pos_w &&
    a.pos_y < b.pos_y + b.pos_h &&
    b.pos_y < a.pos_y + a.pos_h
  );
}

/** Places without overlaps or gaps above them, in reading order. `moved` goes before those in its row. */
export function settled(places: readonly PlaceBody[], moved: string | null = null): PlaceBody[] {
  const order = [...places].sort(
    (a, b) => a.pos_y - b.pos_y || Number(b.id === moved) - Number(a.id === moved) || a.pos_x - b.pos_x,
  );
  const done: PlaceBody[] = [];
  for (const { id, pos_x, pos_y, pos_w, pos_h } of order) {
    const width = Math.min(pos_w, COLUMNS);
    const place = { id, pos_x: Math.min(pos_x, COLUMNS - width), pos_y, pos_w: width, pos_h };
    const free = (y: number) => !done.some((other) => overlap({ ...place, pos_y: y }, other));
    while (!free(place.pos_y)) place.pos_y++;
    while (place.pos_y > 0 && free(place.pos_y - 1)) place.pos_y--;
    done.push(place);
  }
  return done;
}

/** The change of a place, in columns and rows. */
export interface Step {
  x?: number;
  y?: number;
  w?: number;
  h?: number;
}

const within = (value: number, least: number, most: number) => Math.max(least, Math.min(most, value));

/** Moves or resizes a tile; the others make room. */
export function moved(places: readonly PlaceBody[], id: string, { x = 0, y = 0, w = 0, h = 0 }: Step): PlaceBody[] {
  const next = places.map((place) => {
    if (place.id !== id) return place;
    const pos_x = within(place.pos_x + x, 0, COLUMNS - place.pos_w);
    return {
      ...place,
      pos_x,
      pos_y: Math.max(0, place.pos_y + y),
      pos_w: within(place.pos_w + w, LEAST_WIDTH, COLUMNS - pos_x),
      pos_h: within(place.pos_h + h, LEAST_HEIGHT, MOST_HEIGHT),
    };
  });
  return settled(next, id);
}

/** Whether both have each tile at the same place, in whatever order. */
export function samePlaces(places: readonly PlaceBody[], others: readonly PlaceBody[]): boolean {
  const text = (all: readonly PlaceBody[]) => JSON.stringify([...all].sort((a, b) => (a.id < b.id ? -1 : 1)));
  return text(places) === text(others);
}

/** A step by keys goes on until something moves, as a tile has to pass others as a whole. */
export function stepped(places: readonly PlaceBody[], id: string, { x = 0, y = 0, w = 0, h = 0 }: Step): PlaceBody[] {
  const before = settled(places);
  let next = before;
  for (let times = 1; times <= 2 * MOST_HEIGHT && samePlaces(next, before); times++)
    next = moved(before, id, { x: x * times, y: y * times, w, h });
  return next;
}

/** "Failures: column 1, row 5, 6 wide, 4 high", for those who do not see it. */
export function placeText(title: string, { pos_x, pos_y, pos_w, pos_h }: PlaceBody): string {
  return `${title}: column ${pos_x + 1}, row ${pos_y + 1}, ${pos_w} wide, ${pos_h} high`;
}

/** The name that was saved for `$n`, "" for none. */
export function nameOf(query: QueryRow, number: number): string {
  return `${(query.params[number - 1]?.["name"] as string | undefined) ?? ""}`;
}

/** The values of a tile's parameters: its own, else those saved with the query. */
export function typedFor(query: QueryRow, bindings: TileRow["param_bindings"]): Record<number, string> {
  const typed: Record<number, string> = {};
  query.params.forEach(({ value }, index) => {
    typed[index + 1] = `${(value as string | undefined) ?? ""}`;
  });
  for (const [key, value] of Object.entries(bindings))
    typed[Number(key) || query.params.findIndex(({ name }) => name === key) + 1] = `${value as string}`;
  return typed;
}

/** The typed values of a tile's parameters. Those with the names `from` and `to` are the bounds of the range. */
export function boundTyped(
  query: QueryRow,
  bindings: TileRow["param_bindings"],
  { from, to }: Bounds,
  now: number,
): Record<number, string> {
  const range: Record<string, string> = {
    from: from ?? new Date(0).toISOString(),
    to: to ?? new Date(now).toISOString(),
  };
  const typed = typedFor(query, bindings);
  query.params.forEach((_, index) => {
    const bound = range[nameOf(query, index + 1)];
    if (bound !== undefined) typed[index + 1] = bound;
  });
  return typed;
}

/** The fields of a chart as a tile keeps them; what does not fit counts as absent. */
export function fieldsOf({ x, y, series }: Record<string, unknown>): Partial<ChartFields> {
  return {
    ...(typeof x === "string" && { x }),
    ...(Array.isArray(y) && { y: y.filter((name): name is string => typeof name === "string") }),
    ...(typeof series === "string" && { series }),
  };
}
