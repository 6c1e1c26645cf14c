import { useState } from "preact/hooks";
import { can } from "../api/session";
import type { QueryRow } from "../api/types";
import { Icon } from "../kit/icon";
import { announce } from "../kit/overlay/announce";
import { confirm } from "../kit/overlay/dialog";
import { pathOf } from "../kit/url";
import { deleteQuery } from "./api";
import { reasonOf } from "./model";

interface Props {
  org: string;
  queries: readonly QueryRow[];
  /** The id of the query in the editor. */
  current: string;
  onDeleted: (id: string) => void;
}

/** The list "Saved queries". */
export function SavedQueries({ org, queries, current, onDeleted }: Props) {
  const [problem, setProblem] = useState<string | null>(null);
  const remove = async ({ id, name }: QueryRow) => {
    const text = "It is deleted for everybody in the organization.";
    if (!(await confirm({ title: `Delete ${name}?`, verb: "Delete", text }))) return;
    try {
      await deleteQuery(id);
      setProblem(null);
      announce(`${name} is deleted`);
      onDeleted(id);
    } catch (error) {
      setProblem(`${name}: ${reasonOf(error)}`);
    }
  };
  return (
    <section class="sql-saved">
      <h2>Saved queries</h2>
      {problem && (
        <p class="field-error" role="alert">
          {problem}
        </p>
      )}
      {!queries.length && <p class="dim">None yet. “Save” keeps the statement for everybody here.</p>}
      <ul aria-label="Saved queries">
        {queries.map((query) => (
          <li key={query.id}>
            <a
              href={pathOf(org, "sql", query.id)}
              title={query.description || query.name}
              aria-current={query.id === current ? "page" : undefined}
            >
              {query.name}
            </a>
            {can("queries:delete") && (
              <button
                type="button"
                class="button ghost small"
                aria-label={`Delete ${query.name}`}
                title={`Delete ${query.name}`}
                onClick={() => void remove(query)}
              >
                <Icon name="trash-2" />
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
