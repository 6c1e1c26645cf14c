import { can } from "../api/session";
import { useLoad } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { groupText } from "../kit/dimensions/groups";
import { percent } from "../kit/text/formats";
import { Moment, Money, Pill } from "../kit/text/values";
import { pathOf } from "../kit/url";
import { readBudgets } from "./api";
import { type Budget, endOf, forecastOf, PERIODS, toneOf } from "./budget";

/** The region "Budgets": what is spent of each in its running period. */
export function Budgets({ org, turn }: { org: string; turn: number }) {
  const load = useLoad(["budgets", org, turn], readBudgets);
  return (
    <section class="costs-part" aria-label="Budgets">
      <h2>
        Budgets
        {can("alerts:write") && (
          <a class="link" href={`${pathOf(org, "alerts", "new")}?trigger=budget`}>
            New budget
          </a>
        )}
      </h2>
      <Loaded load={load}>
        {(budgets) =>
          budgets.length ? (
            <ul class="budgets">
              {budgets.map((budget) => (
                <Row key={JSON.stringify([budget.alert_id, budget.group])} org={org} budget={budget} />
              ))}
            </ul>
          ) : (
            <p class="costs-note">No budgets yet. A budget is an alert that says when spending reaches its levels.</p>
          )
        }
      </Loaded>
    </section>
  );
}

function Row({ org, budget }: { org: string; budget: Budget }) {
  const { name, period, amount_usd, share, level, levels, forecast_usd, exhausted_at } = budget;
  // Calls without a price are no spending of $0.
  const unpriced = budget.unpriced_calls;
  const spent = unpriced ? budget.spent_usd || null : budget.spent_usd;
  const group = groupText(budget.group);
  const end = endOf(budget);
  const forecast = forecastOf(budget);
  const place = (percentage: number) => `${(percentage / end) * 100}%`;
  return (
    <li class="budget">
      <p>
        <a href={pathOf(org, "alerts", budget.alert_id)}>{name}</a>
        {group && <span class="dim">{group}</span>}
        {level !== null && (
          <Pill kind={share >= 1 ? "err" : "warn"}>{level === "forecast" ? "forecast" : `${level} % reached`}</Pill>
        )}
        {!budget.enabled && <Pill>Disabled</Pill>}
      </p>
      <span class="budget-bar" aria-hidden="true">
        <i class={`budget-${toneOf(budget)}`} style={{ width: place(share * 100) }} />
        {levels.map((one) => (
          <b key={one} style={{ left: place(one) }} title={`${one} %`} />
        ))}
        {forecast !== null && <b class="budget-forecast" style={{ left: place(forecast) }} title="Forecast" />}
      </span>
      <p class="soft">
        <span>
          <Money value={spent} unpriced={unpriced} /> of <Money value={amount_usd} /> {PERIODS[period]},{" "}
          {percent(share)}
        </span>
        {forecast_usd !== null && (
          <span>
            forecast <Money value={forecast_usd} />
          </span>
        )}
        {exhausted_at && (
          <span>
            all spent by <Moment at={exhausted_at} />
          </span>
        )}
        {budget.incident_id && (
          <a class="link" href={pathOf(org, "incidents", budget.incident_id)}>
            Incident
          </a>
        )}
      </p>
    </li>
  );
}
