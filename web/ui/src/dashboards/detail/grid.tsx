import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { PlaceBody, TileRow } from "../../api/types";
import { Icon } from "../../kit/icon";
import { announce } from "../../kit/overlay/announce";
import { placeText, stepped } from "../model";
import { startDrag } from "./drag";

interface Props {
  tiles: readonly TileRow[];
  places: readonly PlaceBody[];
  /** null: the layout is not edited. */
  onPlaces: ((places: PlaceBody[]) => void) | null;
  titleOf: (tile: TileRow) => string;
  /** The header of a tile holds this besides its title. */
  menu: (tile: TileRow) => ComponentChildren;
  children: (tile: TileRow) => ComponentChildren;
}

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The tiles on their grid. While the layout is edited, headers drag and the corner resizes. */
export function Grid({ tiles, places, onPlaces, titleOf, menu, children }: Props) {
  const grid = useRef<HTMLDivElement>(null);
  const drag = (event: PointerEvent, id: string, sizes: boolean) => {
    if (onPlaces && event.button === 0) startDrag(event, grid.current!, { places, id, sizes, onPlaces });
  };
  const onKeyDown = (event: KeyboardEvent, tile: TileRow) => {
    const [x, y] = STEPS[event.key] ?? [];
    if (x === undefined || y === undefined || !onPlaces) return;
    event.preventDefault();
    event.stopPropagation();
    const next = stepped(places, tile.id, event.shiftKey ? { w: x, h: y } : { x, y });
    onPlaces(next);
    announce(placeText(titleOf(tile), next.find(({ id }) => id === tile.id)!));
    const button = event.currentTarget as HTMLElement;
    requestAnimationFrame(() => button.closest("section")?.scrollIntoView({ block: "nearest" }));
  };
  // The order of the document stays that of the tiles while they move, so that the focus stays.
  return (
    <div ref={grid} class={onPlaces ? "tiles editing" : "tiles"}>
      {tiles.map((tile) => {
        const place = places.find(({ id }) => id === tile.id);
        if (!place) return null;
        const { pos_x, pos_y, pos_w, pos_h } = place;
        const title = titleOf(tile);
        return (
          <section
            key={tile.id}
            class="tile"
            aria-label={title}
            style={{
              gridColumn: `${pos_x + 1} / span ${pos_w}`,
              gridRow: `${pos_y + 1} / span ${pos_h}`,
              "--rows": pos_h,
            }}
          >
            <header onPointerDown={(event) => drag(event, tile.id, false)}>
              {onPlaces && (
                <button
                  type="button"
                  class="button ghost small"
                  aria-label={`Move ${title}`}
                  title="Arrows move, Shift and arrows size"
                  onKeyDown={(event) => onKeyDown(event, tile)}
                >
                  <Icon name="grip-vertical" />
                </button>
              )}
              <h2 title={title}>{title}</h2>
              {!onPlaces && menu(tile)}
            </header>
            {children(tile)}
            {onPlaces && (
              <span class="tile-corner" aria-hidden="true" onPointerDown={(event) => drag(event, tile.id, true)} />
            )}
          </section>
        );
      })}
    </div>
  );
}
