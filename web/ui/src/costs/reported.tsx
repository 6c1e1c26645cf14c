import type { CostFigures } from "../api/types";
import { Figures } from "../kit/list/figures";
import { Money } from "../kit/text/values";

/** The region "Reported and computed": what senders say, what the prices say, and where both are known. */
export function Reported({ total }: { total: CostFigures }) {
  const { reported_usd, computed_usd, difference_usd } = total;
  return (
    <section class="costs-part" aria-label="Reported and computed">
      <h2>Reported and computed</h2>
      <Figures
        figures={[
          { label: "Reported", value: <Money value={reported_usd || null} />, note: "by senders" },
          { label: "Computed", value: <Money value={computed_usd || null} />, note: "from prices" },
          {
            label: "Difference",
            value: <Money value={reported_usd && computed_usd ? difference_usd : null} />,
            note: "of calls with both",
          },
        ]}
      />
    </section>
  );
}
