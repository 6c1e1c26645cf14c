import type { ComponentChildren } from "preact";
import { request } from "../../api/request";
import { can } from "../../api/session";
import type { StoredCost } from "../../api/types";
import { useLoad } from "../data/load";
import { Loaded } from "../data/loaded";
import { organization } from "../organization";
import { exactMoney, rounded } from "../text/money";
import { pathOf, searchOf } from "../url";
import { Lines } from "./lines";
import { noteText, priceName, reasonText } from "./words";

interface Call {
  payload: Record<string, unknown>;
  provider: string | null;
  /** null for an event that is no call, or was stored before there were costs. */
  cost: StoredCost | null;
}

/** Whether an event has a tab "Cost": a call of a model, or another one that costs something. */
export function mayCost(type: string, hasCost: boolean): boolean {
  return hasCost || type === "model_response";
}

/** The tab "Cost" of an event. */
export function CostView({ event: { payload, provider, cost } }: { event: Call }) {
  const model = modelOf(payload);
  if (!cost) return <p class="side-note soft">No cost is stored with this event.</p>;
  const { cost_usd, reported_usd, computed_usd, unpriced_reason, lines, notes, price } = cost;
  const both = reported_usd !== null && computed_usd !== null;
  return (
    <>
      <dl class="facts-list pair">
        <Fact name="Cost">
          {cost_usd === null ? <span class="warn">{reasonText(unpriced_reason ?? "")}</span> : exactMoney(cost_usd)}
        </Fact>
        {reported_usd !== null && <Fact name="Reported">{exactMoney(reported_usd)}</Fact>}
        {computed_usd !== null && <Fact name="Computed">{exactMoney(computed_usd)}</Fact>}
        {both && <Fact name="Difference">{exactMoney(rounded(reported_usd - computed_usd))}</Fact>}
        {price && <Fact name="Price">{priceName(price)}</Fact>}
      </dl>
      {lines.length > 0 ? (
        <Lines lines={lines} />
      ) : (
        computed_usd !== null && (
          <p class="side-note soft">Its price has changed since, so it cannot be taken apart any more.</p>
        )
      )}
      {notes.map((note) => (
        <p key={note} class="side-note soft">
          {noteText(note)}
        </p>
      ))}
      {model && can("settings:write") && (
        <p class="side-note">
          <a class="link" href={pricePath(model, provider)}>
            Set a price
          </a>
        </p>
      )}
    </>
  );
}

/** Reads an event, and shows its cost. */
export function CostTab({ session, event }: { session: string; event: number }) {
  const load = useLoad(["cost", session, event], (options) =>
    request(
      "GET /sessions/{session_id}/events/{event_id}",
      { path: { session_id: session, event_id: event } },
      options,
    ),
  );
  return <Loaded load={load}>{(row) => <CostView event={row} />}</Loaded>;
}

/** The model that a call names. */
function modelOf(payload: Record<string, unknown>): string | null {
  const model = payload["model"] ?? payload["model_name"];
  return typeof model === "string" && model !== "" ? model : null;
}

/** The page "Prices" with the dialog of a new price for a model. */
function pricePath(model: string, provider: string | null): string {
  const query = new URLSearchParams({ new: model, ...(provider && { provider }) });
  return pathOf(organization() ?? "", "prices") + searchOf(query);
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
