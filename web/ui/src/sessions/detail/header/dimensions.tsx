import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { attributeValue } from "../../../kit/dimensions/values";
import { organization } from "../../../kit/organization";
import { plural } from "../../../kit/text/formats";
import { attributeParam, changed, pathOf, searchOf } from "../../../kit/url";
import type { SessionDetail } from "../api";

const MOST_SHOWN = 8;

interface Dimension {
  /** The parameter of the list. */
  param: string;
  label: string;
  value: string;
  /** The value as the filter takes it. */
  filter: string;
}

/** Whose session it is, of which release, and with what. Each leads to the list of all such sessions. */
export function Dimensions({ facts }: { facts: SessionDetail }) {
  const [all, setAll] = useState(false);
  const found = dimensionsOf(facts);
  const shown = all ? found : found.slice(0, MOST_SHOWN);
  return (
    <>
      {shown.map(({ param, label, value, filter }) => (
        <span key={`${param} ${value}`} class="session-dimension">
          {label}{" "}
          <FilterLink param={param} value={filter}>
            {value}
          </FilterLink>
        </span>
      ))}
      {shown.length < found.length && (
        <button type="button" class="fact-link" onClick={() => setAll(true)}>
          {plural(found.length - shown.length, "more dimension")}
        </button>
      )}
    </>
  );
}

function dimensionsOf({ user_id, agent_version, tags, attributes }: SessionDetail): Dimension[] {
  const one = (param: string, label: string, value: string | null, filter = value) =>
    value === null ? [] : [{ param, label, value, filter: filter! }];
  return [
    ...one("user_id", "user", user_id),
    ...one("agent_version", "version", agent_version),
    ...tags.flatMap((tag) => one("tag", "tag", tag)),
    ...Object.entries(attributes).flatMap(([key, value]) =>
      one(attributeParam(key), key, value, attributeValue(value)),
    ),
  ];
}

function FilterLink({ param, value, children }: { param: string; value: string; children: ComponentChildren }) {
  const query = changed(new URLSearchParams(), { [param]: [value] });
  return (
    <a class="link" href={pathOf(organization() ?? "", "sessions") + searchOf(query)}>
      {children}
    </a>
  );
}
