import { zone } from "../../../kit/time/zone";

/** The address of an event: the session, the event, and the zone in which its times are shown. */
export function linkToEvent(id: number): string {
  const url = new URL(location.pathname, location.origin);
  url.searchParams.set("e", String(id));
  url.searchParams.set("tz", zone.value);
  return url.href;
}
