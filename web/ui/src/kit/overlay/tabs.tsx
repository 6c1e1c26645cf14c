import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";

export interface Tab {
  id: string;
  label: string;
  /** A number beside the label. It is not part of the name. */
  count?: number | undefined;
}

interface Props {
  /** Accessible name of the list of tabs. */
  label: string;
  tabs: readonly Tab[];
  value: string;
  onChange: (id: string) => void;
  /** Stands at the left of the tabs. */
  before?: ComponentChildren;
  /** Stands at the right of the tabs. */
  aside?: ComponentChildren;
  /** The content of the chosen tab. */
  children: ComponentChildren;
  class?: string;
}

/** Tabs and the panel of the chosen one. Arrows, Home and End move between them. */
export function Tabs({ label, tabs, value, onChange, before, aside, children, class: extra }: Props) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const index = tabs.findIndex((tab) => tab.id === value);
    const steps: Record<string, number> = {
      ArrowRight: index + 1,
      ArrowLeft: index - 1 + tabs.length,
      Home: 0,
      End: tabs.length - 1,
    };
    const step = steps[event.key];
    const next = step === undefined ? undefined : tabs[step % tabs.length];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    onChange(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(next.id)}"]`)?.focus();
  };
  return (
    <>
      <div class="tabs-bar">
        {before}
        <div ref={list} class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
          {tabs.map((tab) => (
            <button
              key={tab.id}
              type="button"
              role="tab"
              id={`${id}-${tab.id}`}
              data-tab={tab.id}
              aria-selected={tab.id === value}
              aria-controls={`${id}-panel`}
              tabIndex={tab.id === value ? 0 : -1}
              onClick={() => onChange(tab.id)}
            >
              {tab.label}
              {tab.count !== undefined && <small aria-hidden="true">{tab.count}</small>}
            </button>
          ))}
        </div>
        {aside}
      </div>
      <div
        id={`${id}-panel`}
        class={extra ? `tab-panel ${extra}` : "tab-panel"}
        role="tabpanel"
        aria-labelledby={`${id}-${value}`}
      >
        {children}
      </div>
    </>
  );
}
