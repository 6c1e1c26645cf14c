import { can } from "../../api/session";
import { useNarrow } from "../media";
import { MenuButton } from "../overlay/menu";

export interface RowAction {
  label: string;
  onClick: () => void;
  /** Without it the action is absent. */
  permission?: string;
}

/** The actions of a row: buttons, or a menu on narrow screens. */
export function RowActions({ name, actions }: { name: string; actions: readonly RowAction[] }) {
  const narrow = useNarrow();
  const possible = actions.filter(({ permission }) => permission === undefined || can(permission));
  if (!possible.length) return null;
  if (narrow) {
    const items = possible.map(({ label, onClick }) => ({ label, onSelect: onClick }));
    return <MenuButton label={`Actions of ${name}`} items={items} class="button ghost in-row" />;
  }
  return (
    <span class="row-actions">
      {possible.map(({ label, onClick }) => (
        <button key={label} type="button" class="button small" onClick={onClick}>
          {label}
        </button>
      ))}
    </span>
  );
}
