import { useState } from "preact/hooks";
import { can } from "../../api/session";
import type { FindingRow } from "../../api/types";
import { useLoad } from "../../kit/data/load";
import { Loaded } from "../../kit/data/loaded";
import { sqlOfFinding } from "../../kit/data/statements";
import { Icon } from "../../kit/icon";
import { Figures } from "../../kit/list/figures";
import { Severity } from "../../kit/list/severity";
import { ViewToolbar } from "../../kit/list/toolbar";
import { Page, type PageProps } from "../../kit/page";
import { useShortcuts } from "../../kit/shortcuts";
import { plural } from "../../kit/text/formats";
import { Text } from "../../kit/text/text";
import { Moment, Pill } from "../../kit/text/values";
import { pathOf } from "../../kit/url";
import { ActionDialog } from "../action-dialog";
import { readFinding } from "../api";
import { type ActionOf, actionsOf, numberOf, scopeOf, words } from "../model";
import { Evidence } from "./evidence";
import { Query } from "./query";

/** The page of one finding: its numbers, its evidence, and the queries that show it. */
export default function FindingPage({ org, id }: PageProps) {
  const load = useLoad(`finding ${org} ${id}`, (options) => readFinding(id, options));
  const [asked, setAsked] = useState<ActionOf | null>(null);
  const finding = load.data;
  const sql = finding && sqlOfFinding(finding.evidence_queries);
  const actions = finding && can("audits:write") ? actionsOf(finding) : [];
  useShortcuts(
    actions.flatMap((one) => (one.key ? [{ keys: one.key, label: one.label, run: () => setAsked(one) }] : [])),
  );
  const head = (
    <>
      <ViewToolbar
        curl={() => ({ route: "GET /audits/findings/{fid}", path: { fid: id } })}
        sql={sql === undefined ? undefined : () => sql}
        onRefresh={load.reload}
      />
      {actions.map((one) => (
        <button
          key={one.action}
          type="button"
          class={one.action === "ack" ? "button primary" : "button"}
          onClick={() => setAsked(one)}
        >
          {one.label}
        </button>
      ))}
    </>
  );
  const badges = finding && (
    <>
      <Pill kind={finding.status === "open" || finding.status === "recurring" ? "warn" : "ok"}>
        {words(finding.status)}
      </Pill>
      <Severity value={finding.severity} />
    </>
  );
  return (
    <Page title={finding?.title ?? "Finding"} badges={badges} actions={head}>
      <Loaded load={load} class="finding-body">
        {(data) => <Body org={org} finding={data} />}
      </Loaded>
      {asked && finding && (
        <ActionDialog finding={finding} action={asked} onClose={() => setAsked(null)} onDone={load.reload} />
      )}
    </Page>
  );
}

function Body({ org, finding }: { org: string; finding: FindingRow }) {
  const numbers = Object.entries(finding.evidence.numbers).map(([name, value]) => numberOf(name, value));
  const prose = [
    ["Likely cause", finding.root_cause_hypothesis],
    ["Recommendation", finding.recommendation],
    ["Expected impact", finding.expected_impact],
    ["Effort", finding.effort],
  ] as const;
  return (
    <div class="finding">
      {numbers.length > 0 && <Figures figures={numbers} />}
      <div class="finding-text">
        <p>
          <Text>{finding.description}</Text>
        </p>
        <Facts org={org} finding={finding} />
        {prose.map(
          ([title, text]) =>
            text && (
              <section key={title}>
                <h2>{title}</h2>
                <p>
                  <Text>{text}</Text>
                </p>
              </section>
            ),
        )}
      </div>
      <Evidence org={org} finding={finding} />
      <section aria-label="Queries">
        <h2 class="finding-head">Queries</h2>
        {finding.evidence_queries.map((query) => (
          <Query key={query.title} org={org} query={query} />
        ))}
      </section>
    </div>
  );
}

function Facts({ org, finding }: { org: string; finding: FindingRow }) {
  return (
    <dl class="finding-facts">
      <dt>Signal</dt>
      <dd>{words(finding.signal)}</dd>
      <dt>Audit</dt>
      <dd>
        <a class="link" href={pathOf(org, "audits", finding.audit_id)}>
          {finding.audit_name}
        </a>
      </dd>
      <dt>Seen</dt>
      <dd>
        <Moment at={finding.first_seen_at} /> to <Moment at={finding.last_seen_at} />, in{" "}
        {plural(finding.occurrences, "run")}
      </dd>
      <dt>Assignee</dt>
      <dd>{finding.assigned_to ?? "none"}</dd>
      {finding.issue_id && (
        <>
          <dt>Incident</dt>
          <dd>
            <a class="link" href={pathOf(org, "incidents", finding.issue_id)}>
              <Icon name="siren" class="small" /> Open the incident
            </a>
          </dd>
        </>
      )}
      {scopeOf(finding).flatMap(({ label, values }) => [
        <dt key={label}>{label}</dt>,
        <dd key={`${label} values`}>{values.join(", ")}</dd>,
      ])}
    </dl>
  );
}
