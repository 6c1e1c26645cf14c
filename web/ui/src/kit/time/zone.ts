import { computed } from "@preact/signals";
import type { Choice } from "../form/choices";
import { preferences } from "../preferences";
import { place } from "../router";
import { type Preset, type Range, rangeOf, ZONES, zoneName } from "./time";

/** `tz` of the URL, else the profile's: "local", "UTC" or an IANA name. */
export const chosenZone = computed(() => place.value.query.get("tz") ?? preferences.value.zone);

/** The zone in which moments are shown, as an IANA name. */
export const zone = computed(() => zoneName(chosenZone.value));

/** The choices of a field for a zone. */
export const ZONE_CHOICES: readonly Choice[] = ZONES.map((value) =>
  value === "local" ? { value, label: `Local (${zoneName(value)})` } : { value },
);

/** The range of the URL. */
export function currentRange(standard: Preset): Range {
  return rangeOf(place.value.query, standard);
}
