import { useEffect, useState } from "preact/hooks";
import { can } from "../../../api/session";
import { Icon } from "../../../kit/icon";
import { navigate, param } from "../../../kit/router";
import { pathOf, searchOf } from "../../../kit/url";
import type { View } from "../view";
import { type Neighbours, readNeighbours } from "./neighbours";

/** Links "Newer session" and "Older session", and what their keys do. */
export function useNeighbours(org: string, view: View) {
  const [found, setFound] = useState<Neighbours>({ newer: null, older: null });
  const { id } = view.source;
  const lastEventAt = view.source.facts.value?.last_event_at ?? null;
  const list = param("list");
  useEffect(() => {
    if (!lastEventAt || !can("evaluations:read")) return;
    const controller = new AbortController();
    readNeighbours(id, lastEventAt, controller.signal).then(setFound, () => undefined);
    return () => controller.abort();
    // The list around it stays while the session goes on.
  }, [id, lastEventAt === null, list]);
  const pathTo = (session: string | null) =>
    session === null ? null : pathOf(org, "sessions", session) + searchOf(new URLSearchParams(list ? { list } : {}));
  const go = (session: string | null) => () => {
    const path = pathTo(session);
    if (path) void navigate(path);
  };
  const links = (
    <span class="neighbours">
      <Neighbour label="Newer session" icon="chevron-left" href={pathTo(found.newer)} />
      <Neighbour label="Older session" icon="chevron-right" href={pathTo(found.older)} />
    </span>
  );
  return { newer: go(found.newer), older: go(found.older), links: can("evaluations:read") ? links : null };
}

function Neighbour({
  label,
  icon,
  href,
}: {
  label: string;
  icon: "chevron-left" | "chevron-right";
  href: string | null;
}) {
  if (!href) return null;
  return (
    <a class="button ghost" href={href} aria-label={label} title={label}>
      <Icon name={icon} />
    </a>
  );
}
