import type { SessionCosts } from "../../../api/types";
import { compact, exact } from "../../../kit/text/formats";
import { Money } from "../../../kit/text/values";
import type { View } from "../view";

/** What each model cost each agent, the dearest first. */
export function Costs({ view }: { view: View }) {
  const costs = view.source.facts.value?.costs;
  if (!costs?.length) return null;
  return (
    <section class="breakdown-costs" aria-label="Costs">
      <h2>Cost per model and agent</h2>
      <table class="breakdown" aria-label="Costs">
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">Agent</th>
            {["Calls", "Tokens", "Cost"].map((name) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {costs.map((line) => (
            <Row key={JSON.stringify([line.agent_id, line.model, line.provider])} line={line} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ line }: { line: SessionCosts }) {
  const { model, provider, agent_id, calls, input_tokens, output_tokens, cost_usd, unpriced_calls } = line;
  const tokens = input_tokens + output_tokens;
  return (
    <tr>
      <th scope="row">
        <span class="cut" title={[model ?? "no model", provider].filter(Boolean).join(" of ")}>
          {model ?? <span class="dim">no model</span>}
        </span>
      </th>
      <td>
        <span class="cut" title={agent_id}>
          {agent_id}
        </span>
      </td>
      <td class="number">{exact(calls)}</td>
      <td class="number" title={exact(tokens)}>
        {compact(tokens)}
      </td>
      <td class="number">
        <Money value={cost_usd} unpriced={unpriced_calls} />
      </td>
    </tr>
  );
}
