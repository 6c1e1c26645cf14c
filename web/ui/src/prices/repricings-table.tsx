import { useEffect, useState } from "preact/hooks";
import { can } from "../api/session";
import type { RepricingRow } from "../api/types";
import { useAgain, useLoad } from "../kit/data/load";
import { Failed } from "../kit/data/states";
import { RowActions } from "../kit/list/row-actions";
import { type Column, Table } from "../kit/list/table";
import { announce } from "../kit/overlay/announce";
import { Moment, Money, Pill } from "../kit/text/values";
import { cancelRepricing, readRepricings } from "./api";
import { isUnderWay, stateText } from "./repricings";

const LOOK_EVERY_MS = 2000;

/** The table "Repricings": the newest runs, their progress, and what they changed. */
export function Repricings({ org, turn }: { org: string; turn: number }) {
  const load = useLoad(["repricings", org, turn], readRepricings);
  const [problem, setProblem] = useState<unknown>(null);
  const rows = load.data ?? [];
  const underWay = rows.some(isUnderWay);
  useAgain(underWay, load, LOOK_EVERY_MS);
  useEffect(() => setProblem(null), [turn]);
  const cancel = async ({ id }: RepricingRow) => {
    try {
      await cancelRepricing(id);
      announce("The repricing is cancelled");
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
    load.reload();
  };
  const error = problem ?? load.error;
  if (error !== null) return <Failed error={error} onRetry={load.reload} />;
  if (!rows.length) return null;
  return (
    <section class="repricings" aria-label="Repricings">
      <h2>Repricings</h2>
      <Table label="Repricings" columns={columnsOf(cancel)} rows={rows} idOf={(row) => row.id} scroll="page" />
    </section>
  );
}

function columnsOf(cancel: (row: RepricingRow) => void): Column<RepricingRow>[] {
  const columns: Column<RepricingRow>[] = [
    {
      key: "range",
      label: "Calls",
      width: "270px",
      narrow: "title",
      cell: (row) => (
        <>
          <Moment at={row.from} /> to <Moment at={row.to} />
        </>
      ),
    },
    {
      key: "state",
      label: "State",
      narrow: "note",
      cell: (row) => (
        <span class={row.state === "failed" ? "err" : undefined} title={stateText(row)}>
          {row.dry_run && <Pill>Preview</Pill>} {stateText(row)}
        </span>
      ),
    },
    {
      key: "before",
      label: "Before",
      width: "100px",
      number: true,
      cell: (row) => <Money value={row.result?.before_usd || null} />,
    },
    {
      key: "after",
      label: "After",
      width: "100px",
      number: true,
      narrow: "value",
      cell: (row) => <Money value={row.result?.after_usd || null} />,
    },
    {
      key: "difference",
      label: "Difference",
      width: "110px",
      number: true,
      cell: (row) => <Money value={row.result?.difference_usd ?? null} />,
    },
    {
      key: "requested",
      label: "Requested",
      width: "260px",
      cell: (row) => (
        <>
          <Moment at={row.requested_at} /> <span class="soft">{row.requested_by}</span>
        </>
      ),
    },
  ];
  if (!can("settings:write")) return columns;
  const actions = (row: RepricingRow) =>
    isUnderWay(row) && <RowActions name="the repricing" actions={[{ label: "Cancel", onClick: () => cancel(row) }]} />;
  return [...columns, { key: "actions", label: "Actions", width: "100px", narrow: "state", cell: actions }];
}
