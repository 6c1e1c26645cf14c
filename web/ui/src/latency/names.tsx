import { useState } from "preact/hooks";
import type { LatencyOfKey } from "../api/types";
import { sorted, Table, type Column, type Sort } from "../kit/table";
import { pathOf, searchOf } from "../kit/url";
import { Count, Duration, Failures } from "../kit/values";
import { eventsQuery, isName, type Choice } from "./model";

interface Props {
  org: string;
  rows: readonly LatencyOfKey[];
  choice: Choice;
}

/** The table "Slowest names". A name leads to its events, its failures to the failed ones. */
export function Names({ org, rows, choice }: Props) {
  const [sort, setSort] = useState<Sort>({ key: "p95", descending: true });
  const linkTo = ({ key }: LatencyOfKey, failed: boolean) =>
    isName(key) ? pathOf(org, "events") + searchOf(eventsQuery(choice, { name: key, failed })) : null;
  const quantile = (key: "p50" | "p95" | "p99" | "max"): Column<LatencyOfKey> => ({
    key, label: key, number: true, sorts: true, width: "100px", cell: (row) => <Duration ms={row[key]} />, ...(key === "p95" ? { narrow: "value" as const } : {}),
  });
  const columns: Column<LatencyOfKey>[] = [
    {
      key: "key", label: choice.family.noun, sorts: true, narrow: "title", href: (row) => linkTo(row, false),
      cell: ({ key }) => <span class={isName(key) ? undefined : "dim"} title={key}>{key}</span>,
    },
    quantile("p50"), quantile("p95"), quantile("p99"), quantile("max"),
    { key: "count", label: "Count", number: true, sorts: true, width: "90px", narrow: "note", cell: (row) => <><Count value={row.count} unit="pairs" /><span class="latency-unit"> pairs</span></> },
    {
      key: "error_count", label: "Errors", number: true, sorts: true, width: "90px", narrow: "state",
      href: (row) => (row.error_count ? linkTo(row, true) : null), cell: (row) => <><Failures value={row.error_count} /><span class="latency-unit"> failed</span></>,
    },
  ];
  const of = (row: LatencyOfKey, key: string) => row[key as keyof LatencyOfKey];
  return <Table label="Slowest names" columns={columns} rows={sorted(rows, sort, of)} idOf={({ key }) => key} sort={sort} onSort={setSort} scroll="page" />;
}
