// What a preview says of a rule or of each of its groups. Pure.
import type { AlertPreview } from "../api/types";
import { groupText } from "../kit/dimensions/groups";
import { exact, plural } from "../kit/text/formats";

type Replay = Omit<AlertPreview, "groups">;

/** What the preview draws: the rule itself, or its groups by name, those with most breaches first. */
export function replaysOf(preview: AlertPreview): { name: string | null; replay: Replay }[] {
  const { groups, ...whole } = preview;
  return groups?.map(({ group, ...replay }) => ({ name: groupText(group), replay })) ?? [{ name: null, replay: whole }];
}

/** The places of the points that breach. */
export function breachesOf({ points }: Pick<Replay, "points">): number[] {
  return points.flatMap(({ breach }, index) => (breach ? [index] : []));
}

/** What would have happened, and how often it breached: the latter is null where nothing was replayed. */
export function resultText(replay: Replay): { result: string; often: string | null } {
  const { replayed, incidents, reason, points } = replay;
  if (!replayed) return { result: reason ?? "", often: null };
  const breaches = plural(breachesOf(replay).length, "breach", "breaches");
  const isOpen = incidents.some(({ resolved_at }) => resolved_at === null);
  const end = isOpen ? ". The last incident would still be open" : "";
  return {
    result: `Would have opened ${plural(incidents.length, "incident")}`,
    often: `${breaches} in ${exact(points.length)} evaluations${end}.`,
  };
}
