import type { EvaluationJob, Session } from "../api/types";
import { addedColumn } from "../kit/dimensions/columns";
import { Icon } from "../kit/icon";
import type { IconName } from "../kit/icon-names";
import type { Column } from "../kit/list/table";
import { MenuButton } from "../kit/overlay/menu";
import { setQuery } from "../kit/router";
import { decimal, exact } from "../kit/text/formats";
import { Count, Duration, Failures, FittedId, Moment } from "../kit/text/values";
import { pathOf } from "../kit/url";
import { lasted, outcomeOf, type State, scoreOf, scoreSort, sortQuery, stateOf } from "./model";
import { OutcomeSign } from "./outcome";

const STATES: Record<State, { icon: IconName; tone: string }> = {
  Running: { icon: "loader-circle", tone: "info" },
  Idle: { icon: "clock", tone: "dim" },
  Ended: { icon: "flag", tone: "dim" },
};
const MOST_AGENTS = 2;
const COST = "cost";
/** The width of a column that shares the rest. */
const LEAST = 99;

function StateCell({ state }: { state: State }) {
  const { icon, tone } = STATES[state];
  return (
    <span class="session-state">
      <Icon name={icon} class={tone} />
      {state}
    </span>
  );
}

function StateAndOutcome({ session, now }: { session: Session; now: number }) {
  const outcome = outcomeOf(session);
  return (
    <>
      <StateCell state={stateOf(session, now)} />
      {outcome && <OutcomeSign outcome={outcome} />}
    </>
  );
}

function Agents({ session }: { session: Session }) {
  const names = session.agents.map(({ agent_id }) => agent_id);
  const rest = names.length - MOST_AGENTS;
  return (
    <span class="session-agents" title={names.join(", ")}>
      {names.slice(0, MOST_AGENTS).map((name, index) => (
        <span key={name} class="session-agent">
          <span class={`dot agent-${index + 1}`} />
          <span>{name}</span>
        </span>
      ))}
      {rest > 0 && <span class="dim">+{rest}</span>}
    </span>
  );
}

function Score({ value }: { value: number | string }) {
  if (typeof value === "string") return <span class="dim">{value}</span>;
  return (
    <span class="session-score" title={exact(value)}>
      {decimal(value)}
      {value >= 0 && value <= 1 && (
        <span class="meter" aria-hidden="true">
          <i style={{ width: `${value * 100}%` }} />
        </span>
      )}
    </span>
  );
}

export interface Context {
  org: string;
  /** The query of the list, which the session page needs for "Newer" and "Older". */
  list: string;
  keys: readonly string[];
  scoreKey: string | null;
  /** The order of the list, as `sort` of the API has it. */
  sort: string;
  descending: boolean;
  jobs: ReadonlyMap<string, EvaluationJob>;
  now: number;
  /** The keys of the columns that the person chose. */
  added: readonly string[];
  /** Whether there is no room for both moments of a session. */
  tight: boolean;
  selected: ReadonlySet<string>;
  onSelect: (id: string, selected: boolean) => void;
}

function ScoreHead({ keys, scoreKey, sort, descending }: Context) {
  if (scoreKey === null) return <>Score</>;
  const sorts = sort === scoreSort(scoreKey);
  const pick = (key: string) =>
    setQuery({ score: key === keys[0] ? null : key, ...(sorts && { sort: scoreSort(key) }) });
  const order = (label: string, down: boolean) => ({
    label,
    checked: sorts && descending === down,
    onSelect: () => setQuery(sortQuery(scoreSort(scoreKey), down)),
  });
  const items = [
    order("Sort by highest", true),
    order("Sort by lowest", false),
    ...keys.map((key) => ({ label: key, checked: key === scoreKey, onSelect: () => pick(key) })),
  ];
  return (
    <MenuButton label={`Score: ${scoreKey}`} items={items} class="sort">
      {scoreKey}
      <Icon name={sorts ? (descending ? "arrow-down" : "arrow-up") : "chevron-down"} class="small" />
    </MenuButton>
  );
}

const unpriced = ({ unpriced_calls }: Session) => unpriced_calls;

/** The width that these columns need, as CSS has it. */
export function widthOf(columns: readonly Column<Session>[]): string {
  return `${columns.reduce((sum, { width }) => sum + (width ? Number.parseInt(width, 10) : LEAST), 0)}px`;
}

/** The columns of the table "Sessions". */
export function columnsOf(context: Context): Column<Session>[] {
  const { org, list, scoreKey, jobs, now, selected, onSelect } = context;
  const spare = context.sort === "started_at" ? "last_event_at" : "started_at";
  const link = (id: string) => pathOf(org, "sessions", id) + (list && `?list=${encodeURIComponent(list)}`);
  const columns: Column<Session>[] = [
    {
      key: "session",
      label: "Session",
      width: "128px",
      narrow: "title",
      cell: ({ session_id }) => (
        <>
          <input
            type="checkbox"
            class="row-check"
            aria-label={`Select ${session_id}`}
            checked={selected.has(session_id)}
            onChange={(event) => onSelect(session_id, event.currentTarget.checked)}
          />
          <a href={link(session_id)}>
            <FittedId value={session_id} />
          </a>
        </>
      ),
    },
    { key: "agents", label: "Agents", cell: (session) => <Agents session={session} /> },
    {
      key: "environment",
      label: "Environment",
      width: "86px",
      narrow: "note",
      cell: ({ environment }) => environment,
    },
    ...context.added.filter((key) => key !== COST).map((key) => addedColumn<Session>(key, unpriced)),
    {
      key: "started_at",
      label: "Started",
      width: "126px",
      sorts: "descending",
      cell: ({ started_at }) => (
        <span class="soft">
          <Moment at={started_at} />
        </span>
      ),
    },
    {
      key: "last_event_at",
      label: "Last event",
      width: "126px",
      sorts: "descending",
      cell: ({ last_event_at }) => (
        <span class="soft">
          <Moment at={last_event_at} />
        </span>
      ),
    },
    {
      key: "duration",
      label: "Duration",
      width: "74px",
      number: true,
      sorts: true,
      cell: (session) => <Duration ms={lasted(session)} />,
    },
    {
      key: "event_count",
      label: "Events",
      width: "60px",
      number: true,
      sorts: true,
      cell: ({ event_count }) => <Count value={event_count} />,
    },
    {
      key: "error_count",
      label: "Errors",
      width: "58px",
      number: true,
      sorts: true,
      cell: ({ error_count }) => <Failures value={error_count} />,
    },
    {
      key: "tokens",
      label: "Tokens",
      width: "66px",
      number: true,
      sorts: true,
      cell: ({ input_tokens, output_tokens }) => <Count value={input_tokens + output_tokens} unit="tokens" />,
    },
    ...(context.added.includes(COST) ? [{ ...addedColumn<Session>(COST, unpriced), sorts: true }] : []),
    {
      key: scoreSort(scoreKey ?? ""),
      label: "Score",
      head: <ScoreHead {...context} />,
      width: "106px",
      number: true,
      narrow: "value",
      cell: (session) => <Score value={scoreOf(session, scoreKey, jobs.get(session.session_id), now)} />,
    },
    {
      key: "state",
      label: "State",
      width: "114px",
      narrow: "state",
      cell: (session) => <StateAndOutcome session={session} now={now} />,
    },
  ];
  return context.tight ? columns.filter(({ key }) => key !== spare) : columns;
}
