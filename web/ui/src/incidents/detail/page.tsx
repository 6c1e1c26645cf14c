import { useState } from "preact/hooks";
import { can, session } from "../../api/session";
import type { IncidentDetail } from "../../api/types";
import type { Described } from "../../kit/data/curl";
import { useAgain, useLoad } from "../../kit/data/load";
import { Loaded } from "../../kit/data/loaded";
import { Failed } from "../../kit/data/states";
import { Icon } from "../../kit/icon";
import { Severity } from "../../kit/list/severity";
import { ViewToolbar } from "../../kit/list/toolbar";
import { announce } from "../../kit/overlay/announce";
import { Page, type PageProps } from "../../kit/page";
import { duration } from "../../kit/text/formats";
import { Pill } from "../../kit/text/values";
import { acknowledge, readFindingSql, readIncident, readRuleSql, sendAgain, subscribe } from "../api";
import { evidenceOf } from "../model";
import { Activity } from "./activity";
import { Aside } from "./aside";
import { AssignDialog } from "./assign";
import { Evidence } from "./evidence";
import { RuleFigure } from "./figure";
import { ResolveDialog } from "./resolve";

// A delivery that is queued goes out within seconds.
const AGAIN_MS = 2000;

/** The page of one incident. */
export default function IncidentPage({ org, id }: PageProps) {
  const load = useLoad(`incident ${org} ${id}`, (options) => readIncident(id, options));
  const [assigning, setAssigning] = useState(false);
  const [resolving, setResolving] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const run = async (said: string, action: () => Promise<unknown>) => {
    try {
      await action();
      setProblem(null);
      announce(said);
    } catch (error) {
      setProblem(error);
    }
    load.reload();
  };
  const incident = load.data;
  useAgain(incident?.notifications.some(({ status }) => status === "queued") ?? false, load, AGAIN_MS);
  const sql = useStatement(org, incident);
  const actions = (
    <>
      <ViewToolbar
        curl={() => ({ route: "GET /alerts/incidents/{incident_id}", path: { incident_id: id } })}
        sql={sql}
        onRefresh={load.reload}
      />
      {incident && can("incidents:ack") && (
        <Actions
          incident={incident}
          run={run}
          onAssign={() => setAssigning(true)}
          onResolve={() => setResolving(true)}
        />
      )}
    </>
  );
  return (
    <Page title={incident?.title ?? "Incident"} badges={incident && <Badges incident={incident} />} actions={actions}>
      {problem !== null && <Failed error={problem} />}
      <Loaded load={load} class="incident-body">
        {(data) => (
          <div class="incident">
            <div class="incident-main">
              <RuleFigure incident={data} />
              <Evidence org={org} incident={data} sql={sql} />
              <Activity incident={data} onChange={load.reload} />
            </div>
            <Aside org={org} incident={data} onSendAgain={() => void run("Sent again", () => sendAgain(id))} />
          </div>
        )}
      </Loaded>
      {resolving && incident && (
        <ResolveDialog incident={incident} onClose={() => setResolving(false)} onDone={load.reload} />
      )}
      {assigning && incident && (
        <AssignDialog incident={incident} onClose={() => setAssigning(false)} onDone={load.reload} />
      )}
    </Page>
  );
}

/** The statement behind an incident: of the list of its events, of its rule in SQL, or of its finding. */
function useStatement(org: string, incident: IncidentDetail | undefined): (() => string | Described) | undefined {
  const { query, result } = incident ? evidenceOf(incident) : {};
  const finding = can("audits:read") && incident?.source_finding_id;
  const rule = result && can("alerts:read") && incident?.alert_id;
  const { data, current } = useLoad(finding || rule ? `statement ${org} ${finding || rule}` : null, (options) =>
    finding ? readFindingSql(finding, options) : readRuleSql(rule || "", options),
  );
  const found = current && data;
  return found ? () => found : query ? () => ({ route: "GET /events/summary", query }) : undefined;
}

function Badges({ incident }: { incident: IncidentDetail }) {
  const open = Date.now() - Date.parse(incident.opened_at);
  return (
    <>
      {incident.state === "firing" && (
        <Pill kind="err">
          <Icon name="siren" class="small" /> Firing · {duration(open)}
        </Pill>
      )}
      {incident.state === "acknowledged" && (
        <Pill kind="warn">
          <Icon name="eye" class="small" /> Acknowledged
        </Pill>
      )}
      {incident.state === "resolved" && (
        <Pill kind="ok">
          <Icon name="check" class="small" /> Resolved
        </Pill>
      )}
      <Severity value={incident.alert_severity} />
    </>
  );
}

interface ActionsProps {
  incident: IncidentDetail;
  run: (said: string, action: () => Promise<unknown>) => Promise<void>;
  onAssign: () => void;
  onResolve: () => void;
}

function Actions({ incident, run, onAssign, onResolve }: ActionsProps) {
  const { id, state, subscribers } = incident;
  const mine = session.value?.email;
  const subscribed = subscribers.some(({ email, unsubscribed_at }) => email === mine && !unsubscribed_at);
  return (
    <>
      <button
        type="button"
        class="button"
        onClick={() => void run(subscribed ? "Unsubscribed" : "Subscribed", () => subscribe(id, !subscribed))}
      >
        <Icon name="mail" /> {subscribed ? "Unsubscribe" : "Subscribe"}
      </button>
      {state !== "resolved" && (
        <>
          <button type="button" class="button" onClick={onAssign}>
            <Icon name="user" /> Assign
          </button>
          {state === "firing" && (
            <button
              type="button"
              class="button primary"
              onClick={() => void run("Acknowledged", () => acknowledge(id))}
            >
              Acknowledge
            </button>
          )}
          <button type="button" class="button" onClick={onResolve}>
            <Icon name="check" /> Resolve
          </button>
        </>
      )}
    </>
  );
}
