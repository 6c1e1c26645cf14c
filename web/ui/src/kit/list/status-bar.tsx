import type { ComponentChildren } from "preact";

/**
 * The line at the foot of a list: its status, and the keys that work. `search`: whether the page has a field for `/`.
 */
export function StatusBar({ children, search = true }: { children: ComponentChildren; search?: boolean }) {
  return (
    <footer class="status-bar">
      <span role="status">{children}</span>
      <span class="status-keys" aria-hidden="true">
        <kbd>j</kbd> <kbd>k</kbd> move <kbd>↵</kbd> open{" "}
        {search && (
          <>
            <kbd>/</kbd> search
          </>
        )}
      </span>
    </footer>
  );
}
