import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../icon";
import type { IconName } from "../icon-names";

export interface MenuItem {
  label: string;
  icon?: IconName | undefined;
  /** A path of this UI, or an action. */
  href?: string | undefined;
  onSelect?: (() => void) | undefined;
  /** Makes it one of several choices (menuitemradio). */
  checked?: boolean | undefined;
  danger?: boolean | undefined;
}

interface Props {
  /** Accessible name of the button, and of the menu. */
  label: string;
  items: readonly MenuItem[];
  /** The content of the button. Default: three dots. */
  children?: ComponentChildren;
  class?: string;
}

/** A button that opens a menu. Arrows, Home, End, letters and Escape work in it. */
export function MenuButton({ label, items, children, class: extra = "button ghost" }: Props) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const entries = () => [...(menu.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
  useLayoutEffect(() => {
    if (!open) return;
    const checked = entries().find((entry) => entry.getAttribute("aria-checked") === "true");
    (checked ?? entries()[0])?.focus();
    const outside = (event: Event) => {
      const target = event.target as Node;
      if (!menu.current?.contains(target) && !button.current?.contains(target)) setOpen(false);
    };
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const all = entries();
    const index = all.indexOf(document.activeElement as HTMLElement);
    const steps: Record<string, number> = {
      ArrowDown: index + 1,
      ArrowUp: index - 1 + all.length,
      Home: 0,
      End: all.length - 1,
    };
    const step = steps[event.key];
    if (step !== undefined) all[step % all.length]?.focus();
    else if (event.key === "Escape") close();
    else if (event.key === "Tab") return setOpen(false);
    else if (/^\S$/.test(event.key)) {
      const rest = [...all.slice(index + 1), ...all];
      rest.find((entry) => entry.textContent?.trim().toLowerCase().startsWith(event.key))?.focus();
      return;
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span class="menu-anchor">
      <button
        ref={button}
        type="button"
        class={extra}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {children ?? <Icon name="ellipsis" />}
      </button>
      {open && (
        <div ref={menu} id={id} class="menu" role="menu" aria-label={label} onKeyDown={onKeyDown}>
          {items.map((item, index) => (
            <Item key={index} item={item} onDone={close} />
          ))}
        </div>
      )}
    </span>
  );
}

function Item({ item, onDone }: { item: MenuItem; onDone: () => void }) {
  const content = (
    <>
      {item.checked !== undefined && <Icon name="check" class={item.checked ? "" : "invisible"} />}
      {item.icon && <Icon name={item.icon} />}
      {item.label}
    </>
  );
  const role = item.checked === undefined ? "menuitem" : "menuitemradio";
  const common = { tabIndex: -1, class: item.danger ? "menu-item err" : "menu-item" };
  const select = () => {
    onDone();
    item.onSelect?.();
  };
  if (item.href)
    return (
      <a {...common} role={role} aria-checked={item.checked} href={item.href} onClick={select}>
        {content}
      </a>
    );
  return (
    <button {...common} type="button" role={role} aria-checked={item.checked} onClick={select}>
      {content}
    </button>
  );
}
