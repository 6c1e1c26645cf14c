import { useEffect } from "preact/hooks";
import { can } from "../../api/session";
import type { AlertRow } from "../../api/types";
import { useLoad } from "../../kit/data/load";
import { Moment } from "../../kit/text/values";
import { pathOf } from "../../kit/url";
import { readOpenIncidents } from "../api";

const LOOK_AGAIN_MS = 2000;

/** The line above a rule: when it was evaluated, and its open incident. A new rule is evaluated at once. */
export function AlertState({ org, alert, onLook }: { org: string; alert: AlertRow; onLook: () => void }) {
  const waiting = alert.enabled && alert.last_attempted_at === null;
  useEffect(() => {
    if (!waiting) return;
    const timer = setInterval(() => !document.hidden && onLook(), LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [waiting]);
  return (
    <p class="alert-state">
      <span class="dim">
        {alert.last_attempted_at ? (
          <>
            Last evaluated <Moment at={alert.last_attempted_at} />
          </>
        ) : waiting ? (
          "The first evaluation comes in a moment."
        ) : (
          "Never evaluated."
        )}
      </span>
      {alert.open_incidents > 0 && can("incidents:read") && <OpenIncidents org={org} alert={alert} />}
    </p>
  );
}

function OpenIncidents({ org, alert }: { org: string; alert: AlertRow }) {
  const load = useLoad(`open ${org} ${alert.id} ${alert.open_incidents}`, (options) =>
    readOpenIncidents(alert.id, options),
  );
  return load.data?.map(({ id, state }) => (
    <a key={id} class="link" href={pathOf(org, "incidents", id)}>
      Open incident ({state})
    </a>
  ));
}
