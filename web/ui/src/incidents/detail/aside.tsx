import type { ComponentChildren } from "preact";
import { can } from "../../api/session";
import type { IncidentDetail, IncidentNotification } from "../../api/types";
import { groupText } from "../../kit/dimensions/groups";
import { Icon } from "../../kit/icon";
import type { IconName } from "../../kit/icon-names";
import { Moment, Pill } from "../../kit/text/values";
import { pathOf } from "../../kit/url";
import { levelText } from "../model";

const ICONS: Record<IncidentNotification["channel"], IconName> = {
  email: "mail",
  slack: "message-square",
  webhook: "webhook",
  dashboard: "layout-dashboard",
};
const STATES = { sent: "ok", queued: "warn", failed: "err", skipped: undefined } as const;

/** Assignees, rule, deliveries, finding and subscribers. */
export function Aside({
  org,
  incident,
  onSendAgain,
}: {
  org: string;
  incident: IncidentDetail;
  onSendAgain: () => void;
}) {
  const subscribers = incident.subscribers.filter(({ unsubscribed_at }) => !unsubscribed_at);
  return (
    <aside class="incident-aside" aria-label="Details">
      <Part title="State">
        <p>
          <span>Opened</span> <Moment at={incident.opened_at} />
        </p>
        {incident.acknowledged_at && (
          <p>
            <span>Acknowledged by {incident.acknowledged_by}</span> <Moment at={incident.acknowledged_at} />
          </p>
        )}
        {incident.resolved_at && (
          <p>
            <span>Resolved by {incident.resolved_by}</span> <Moment at={incident.resolved_at} />
          </p>
        )}
      </Part>
      {incident.group && (
        <Part title="Group">
          <p>{groupText(incident.group)}</p>
        </Part>
      )}
      {incident.level !== null && (
        <Part title="Level">
          <p>{levelText(incident.level)}</p>
        </Part>
      )}
      <Part title="Assignees">
        {incident.assignees.length ? (
          incident.assignees.map((email) => <p key={email}>{email}</p>)
        ) : (
          <p class="dim">none</p>
        )}
      </Part>
      {incident.alert_id && can("alerts:read") && (
        <Part title="Rule">
          <p>
            <a class="link" href={pathOf(org, "alerts", incident.alert_id)}>
              <Icon name="bell" class="small" /> {incident.alert_name}
            </a>
          </p>
        </Part>
      )}
      {incident.source_finding_id && can("audits:read") && (
        <Part title="Related finding">
          <p>
            <a class="link" href={pathOf(org, "findings", incident.source_finding_id)}>
              <Icon name="clipboard-check" class="small" /> {incident.title}
            </a>
          </p>
        </Part>
      )}
      <Part title="Deliveries">
        <ul aria-label="Deliveries">
          {incident.notifications.map((delivery) => (
            <Delivery key={delivery.id} delivery={delivery} />
          ))}
        </ul>
        {!incident.notifications.length && <p class="dim">none</p>}
        {can("incidents:ack") && incident.notifications.some(({ status }) => status === "failed") && (
          <button type="button" class="button small" onClick={onSendAgain}>
            <Icon name="refresh-cw" class="small" /> Send again
          </button>
        )}
      </Part>
      <Part title="Subscribers">
        {subscribers.map(({ email, source }) => (
          <p key={email}>
            <span>{email}</span> <span class="dim">{source}</span>
          </p>
        ))}
        {!subscribers.length && <p class="dim">none</p>}
      </Part>
    </aside>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Delivery({ delivery: { channel, target, status, attempts, error } }: { delivery: IncidentNotification }) {
  return (
    <li>
      <span title={target}>
        <Icon name={ICONS[channel]} class="small" /> {channel === "email" ? target : channel}
      </span>
      <Pill kind={STATES[status]!}>{status === "queued" && attempts > 0 ? `queued, try ${attempts + 1}` : status}</Pill>
      {error && <small class="dim">{error}</small>}
    </li>
  );
}
