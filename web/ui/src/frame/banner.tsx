import { membership, session } from "../api/session";
import { Brand } from "../kit/brand";
import { Icon } from "../kit/icon";
import { organization } from "../kit/organization";
import { MenuButton, type MenuItem } from "../kit/overlay/menu";
import { pathOf } from "../kit/url";
import { AssistantButton } from "./assistant";
import { signOut } from "./leave";
import { menuOpen, paletteOpen, shortcutsOpen } from "./open";

/** "⌘K" or "Ctrl K". */
const PALETTE_KEY = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘K" : "Ctrl K";

/** The page to show in another organization: lists exist in each, single things do not. */
function sameList(slug: string): string {
  const page = location.pathname.split("/")[3] ?? "sessions";
  return pathOf(slug, page === "compare" ? "sessions" : page);
}

function OrganizationMenu() {
  const memberships = session.value?.memberships ?? [];
  const name = membership()?.org_name;
  if (name === undefined && !memberships.length) return null;
  const shown = name ?? "choose one";
  const label = `Organization: ${shown}`;
  const content = (
    <>
      <span class="dot org-dot" />
      <span class="org-name">{shown}</span>
    </>
  );
  if (memberships.length < 2 && name !== undefined)
    return (
      <button type="button" class="button ghost" aria-label={label}>
        {content}
      </button>
    );
  const items = memberships.map(({ org_slug, org_name, is_pending }) => ({
    label: is_pending ? `${org_name} (invitation)` : org_name,
    href: sameList(org_slug),
    checked: org_slug === organization(),
  }));
  return (
    <MenuButton label={label} items={items}>
      {content}
      <Icon name="chevron-down" class="small" />
    </MenuButton>
  );
}

function AccountMenu() {
  const org = organization();
  const items: MenuItem[] = [
    { label: "Profile", icon: "user", href: "/profile" },
    ...(org ? [{ label: "Send your first event", icon: "send" as const, href: pathOf(org, "start") }] : []),
    { label: "Keyboard shortcuts", icon: "keyboard", onSelect: () => void (shortcutsOpen.value = true) },
    { label: "Sign out", icon: "log-out", onSelect: () => void signOut() },
  ];
  return (
    <span class="menu-anchor end">
      <MenuButton label="Account" items={items} class="avatar">
        <Icon name="user" />
      </MenuButton>
    </span>
  );
}

/** The mark and the banner: organization, palette, account. */
export function Banner() {
  const openPalette = () => void (paletteOpen.value = true);
  return (
    <header class="top">
      <div class="brand">
        <Brand />
      </div>
      <div class="banner">
        <button
          type="button"
          class="button ghost menu-button"
          aria-label="Menu"
          aria-expanded={menuOpen.value}
          aria-controls="navigation"
          onClick={() => (menuOpen.value = !menuOpen.value)}
        >
          <Icon name="menu" />
        </button>
        <OrganizationMenu />
        <button type="button" class="palette-button" aria-haspopup="dialog" onClick={openPalette}>
          <Icon name="search" />
          <span>Search or jump to</span>
          <kbd aria-hidden="true">{PALETTE_KEY}</kbd>
        </button>
        <span class="grow" />
        <AssistantButton />
        <AccountMenu />
      </div>
    </header>
  );
}
