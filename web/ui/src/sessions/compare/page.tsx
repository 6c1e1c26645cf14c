import { useMemo } from "preact/hooks";
import { can } from "../../api/session";
import { Skeleton } from "../../kit/data/loaded";
import { Failed, Forbidden } from "../../kit/data/states";
import { ViewToolbar } from "../../kit/list/toolbar";
import { Page, type PageProps } from "../../kit/page";
import { param } from "../../kit/router";
import { joinValues, pathOf } from "../../kit/url";
import { Payloads } from "../detail/payloads";
import { Alignment, Divergence } from "./alignment";
import { Deltas } from "./deltas";
import { Difference } from "./difference";
import { useDifferences } from "./differences";
import { type Comparison, useComparison } from "./load";

export default function ComparePage({ org }: PageProps) {
  const [a, b] = [param("a") ?? "", param("b") ?? ""];
  const { data, error, reload } = useComparison(a, b);
  const asked = () => ({
    route: can("evaluations:read") ? "GET /sessions" : "GET /events/summary",
    query: { session_id: joinValues([a, b]) },
  });
  const toolbar = <ViewToolbar curl={asked} sql={asked} onRefresh={reload} />;
  return (
    <Page title="Compare sessions" actions={toolbar}>
      <p class="compare-names">
        <a class="link mono" href={pathOf(org, "sessions", a)}>
          {a}
        </a>{" "}
        <span class="dim">with</span>{" "}
        <a class="link mono" href={pathOf(org, "sessions", b)}>
          {b}
        </a>
      </p>
      {!a || !b ? (
        <p class="side-note">Choose two sessions in the list, or a session's "Compare with…".</p>
      ) : error ? (
        <Failed error={error} onRetry={reload} />
      ) : data ? (
        <Content comparison={data} />
      ) : (
        <Skeleton rows={12} />
      )}
    </Page>
  );
}

function Content({ comparison }: { comparison: Comparison }) {
  return (
    <div class="compare">
      <Deltas comparison={comparison} />
      {!can("evaluations:read") && (
        <p class="side-note soft">Scores are not shown: you need the permission evaluations:read.</p>
      )}
      {comparison.aligned ? <Aligned comparison={comparison} /> : <Forbidden permission="events:read" />}
    </div>
  );
}

function Aligned({ comparison }: { comparison: Comparison }) {
  const { left, right } = comparison;
  const one = useMemo(() => new Payloads(left.id), [left.id]);
  const other = useMemo(() => new Payloads(right.id), [right.id]);
  const differences = useDifferences(comparison, one, other);
  return (
    <>
      <Divergence comparison={comparison} differences={differences} />
      <div class="session-split">
        <div class="session-main">
          <Alignment comparison={comparison} differences={differences} />
        </div>
        <Difference comparison={comparison} one={one} other={other} />
      </div>
    </>
  );
}
