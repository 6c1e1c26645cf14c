import type { ComponentChildren } from "preact";
import { can } from "../../api/session";
import { type Described, requestOf } from "../data/curl";
import { organization } from "../organization";
import { navigate } from "../router";
import { pathOf, searchOf } from "../url";

/** The address of the SQL page with a statement in its editor, and the values of its parameters. */
export function sqlPath(org: string, sql: string, typed: Readonly<Record<number, string>> = {}): string {
  const query = new URLSearchParams({ sql });
  for (const [number, text] of Object.entries(typed)) if (text) query.set(`p${number}`, text);
  return pathOf(org, "sql") + searchOf(query);
}

/** The address of the SQL page that asks the service for the statement of a list or an aggregate. */
function listPath(org: string, { route, path, query }: Described): string {
  const { limit: _, cursor: __, ...rest } = query ?? {};
  return pathOf(org, "sql") + searchOf(new URLSearchParams({ of: requestOf({ route, path, query: rest }) }));
}

interface Props {
  /** The statement that answers the same, or the request of the list or the aggregate that has one. */
  sql: () => string | Described;
  /** The values of its parameters, by number. */
  typed?: Readonly<Record<number, string>> | undefined;
  class: string;
  /** The name, where the content is an icon. */
  label?: string;
  children: ComponentChildren;
}

/** A link to the SQL page with a statement in its editor, for those who may run it. */
export function SqlLink({ sql, typed, label, class: look, children }: Props) {
  const org = organization();
  if (!org || !can("queries:run")) return null;
  const source = sql();
  const path = typeof source === "string" ? sqlPath(org, source, typed) : listPath(org, source);
  return (
    <a
      class={look}
      href={path}
      aria-label={label}
      title={label}
      onClick={(event) => {
        // A click in the UI runs the statement. An opened link only shows it.
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        void navigate(path, { state: { run: true } });
      }}
    >
      {children}
    </a>
  );
}
