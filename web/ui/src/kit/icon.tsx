import sprite from "sprite:icons";
import type { IconName } from "./icon-names";

interface Props {
  name: IconName;
  /** Accessible name. Without one the icon is decoration beside a text. */
  label?: string | undefined;
  class?: string;
}

/** A 16-px stroke icon in the colour of the text. */
export function Icon({ name, label, class: extra }: Props) {
  const named = label ? { role: "img" as const, "aria-label": label } : { "aria-hidden": true as const };
  return (
    <svg class={extra ? `icon ${extra}` : "icon"} {...named}>
      <use href={`${sprite}#${name}`} />
    </svg>
  );
}
