import { organization } from "../kit/organization";
import { Dialog } from "../kit/overlay/dialog";
import { preferences } from "../kit/preferences";
import { navigate } from "../kit/router";
import { focusSearch, shortcuts, useShortcuts } from "../kit/shortcuts";
import { pathOf } from "../kit/url";
import { visibleEntries } from "./navigation";
import { paletteOpen, shortcutsOpen } from "./open";

/** Registers the keys that work on every page, and shows the dialog "Keyboard shortcuts". */
export function Keys() {
  const org = organization();
  const pages = visibleEntries().flatMap(({ key, label, path }) =>
    key && org ? [{ keys: `g ${key}`, label, run: () => void navigate(pathOf(org, path)) }] : [],
  );
  useShortcuts([
    { keys: "?", label: "Keyboard shortcuts", run: () => void (shortcutsOpen.value = true) },
    { keys: "/", label: "Search of the page", run: focusSearch },
    { keys: "Mod+k", label: "Command palette", run: () => void (paletteOpen.value = !paletteOpen.value) },
    ...pages,
  ]);
  if (!shortcutsOpen.value) return null;
  const seen = new Set<string>();
  const rows = shortcuts.value.filter(({ keys }) => !seen.has(keys) && seen.add(keys));
  return (
    <Dialog title="Keyboard shortcuts" kind="wide" onClose={() => void (shortcutsOpen.value = false)}>
      {!preferences.value.singleKeys && (
        <p class="notice">Single-key shortcuts are off. The profile page turns them on.</p>
      )}
      <dl class="shortcut-list">
        {rows.map(({ keys, label }) => (
          <div key={keys}>
            <dt>{label}</dt>
            <dd>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key.replace("Mod+", "Ctrl/⌘ ")}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
