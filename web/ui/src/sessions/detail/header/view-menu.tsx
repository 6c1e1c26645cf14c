import { Icon } from "../../../kit/icon";
import { MenuButton } from "../../../kit/overlay/menu";
import { chosenView } from "../state";
import { COLUMNS, chosenColumns, toggleColumn } from "../waterfall/columns";

/** Which further columns the waterfall has. */
export function ViewMenu() {
  if (chosenView.value !== "waterfall") return null;
  const keys = chosenColumns().map((column) => column.key);
  const items = COLUMNS.map(({ key, title }) => ({
    label: title,
    checked: keys.includes(key),
    onSelect: () => toggleColumn(key),
  }));
  return (
    <MenuButton label="Columns" items={items}>
      <Icon name="columns-3" />
    </MenuButton>
  );
}
