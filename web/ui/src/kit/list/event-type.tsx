import { Icon } from "../icon";
import { KIND_ICONS, kindOf } from "./kinds";

interface Props {
  type: string;
  failed: boolean;
}

/** The type of an event, with the icon of its kind; a failure says so. */
export function EventType({ type, failed }: Props) {
  const kind = kindOf(type);
  return (
    <span class={failed ? "event-type err" : "event-type"} title={type}>
      <Icon
        name={failed && kind !== "agent" ? "circle-alert" : KIND_ICONS[kind]}
        class={failed ? "err" : `kind-${kind}`}
      />
      <span>{type}</span>
      {failed && <span class="visually-hidden"> failed</span>}
    </span>
  );
}
