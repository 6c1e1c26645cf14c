import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { membership } from "../api/session";
import { visits } from "./router";
import { visible } from "./text/visible";

/** The visit whose h1 has had the focus. The first page of a visit to the site does not take it. */
let focused = 0;
/** No visit: the h1 that had the focus went. */
const LOST = -1;

/** The frame gives these to the component of a page. */
export interface PageProps {
  /** The organization's slug. */
  org: string;
  /** The id in the path, "" where there is none. */
  id: string;
}

interface Props {
  /** The h1, and the first part of the document's title. */
  title: string;
  /** Ids are set in mono. */
  mono?: boolean;
  /** Badges beside the h1. */
  badges?: ComponentChildren;
  /** Toolbar, time range and buttons, at the right. */
  actions?: ComponentChildren;
  children?: ComponentChildren;
}

/** A page: its h1, what stands beside it, and its content. */
export function Page({ title, mono, badges, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const organization = membership()?.org_name;
  useEffect(() => {
    document.title = visible([title, organization, "Watchpost"].filter(Boolean).join(" · "));
  }, [title, organization]);
  const visit = visits.value;
  useEffect(() => {
    const element = heading.current!;
    const elsewhere = focused === LOST && document.activeElement !== document.body;
    if (focused !== visit && !elsewhere) element.focus({ preventScroll: true });
    focused = visit;
    return () => {
      // The page may be made again once its data is there; the new h1 takes the focus over, unless
      // the person has gone on to something else meanwhile, such as a menu.
      if (document.activeElement === element) focused = LOST;
    };
  }, [visit]);
  return (
    <>
      <header class="page-head">
        <h1 ref={heading} tabIndex={-1} class={mono ? "mono" : undefined} title={mono ? title : undefined}>
          {title}
        </h1>
        {badges}
        <div class="page-actions">{actions}</div>
      </header>
      {children}
    </>
  );
}
