import type { LatencyOfKey } from "../api/types";
import { type Column, type Sort, sorted, Table } from "../kit/list/table";
import { place } from "../kit/router";
import { CountOf, Duration, Failures } from "../kit/text/values";
import { changed, pathOf, searchOf } from "../kit/url";
import { type Choice, cellParams, failedQuery, isName } from "./model";

interface Props {
  org: string;
  rows: readonly LatencyOfKey[];
  choice: Choice;
  sort: Sort;
  onSort: (sort: Sort) => void;
}

/** The table "Slowest names". A name leads to its calls, its failures to the failed events. */
export function Names({ org, rows, choice, sort, onSort }: Props) {
  const callsOf = ({ key }: LatencyOfKey) =>
    isName(key)
      ? location.pathname +
        searchOf(changed(place.value.query, cellParams({ band: null, name: key, bounds: { from: null, to: null } })))
      : null;
  const failuresOf = ({ key }: LatencyOfKey) =>
    isName(key) ? pathOf(org, "events") + searchOf(failedQuery(choice, key)) : null;
  const quantile = (key: "p50" | "p95" | "p99" | "max"): Column<LatencyOfKey> => ({
    key,
    label: key,
    number: true,
    sorts: true,
    width: "100px",
    cell: (row) => <Duration ms={row[key]} />,
    ...(key === "p95" ? { narrow: "value" as const } : {}),
  });
  const columns: Column<LatencyOfKey>[] = [
    {
      key: "key",
      label: choice.family.noun,
      sorts: true,
      narrow: "title",
      href: callsOf,
      cell: ({ key }) => (
        <span class={isName(key) ? undefined : "dim"} title={key}>
          {key}
        </span>
      ),
    },
    quantile("p50"),
    quantile("p95"),
    quantile("p99"),
    quantile("max"),
    {
      key: "count",
      label: "Count",
      number: true,
      sorts: true,
      width: "90px",
      narrow: "note",
      cell: (row) => <CountOf value={row.count} noun="pair" />,
    },
    {
      key: "error_count",
      label: "Errors",
      number: true,
      sorts: true,
      width: "90px",
      narrow: "state",
      href: (row) => (row.error_count ? failuresOf(row) : null),
      cell: (row) => (
        <>
          <Failures value={row.error_count} />
          <span class="narrow-unit"> failed</span>
        </>
      ),
    },
  ];
  const of = (row: LatencyOfKey, key: string) => row[key as keyof LatencyOfKey];
  return (
    <Table
      label="Slowest names"
      columns={columns}
      rows={sorted(rows, sort, of)}
      idOf={({ key }) => key}
      sort={sort}
      onSort={onSort}
      scroll="page"
    />
  );
}
