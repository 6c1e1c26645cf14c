import { can } from "../../api/session";
import type { PriceRow } from "../../api/types";
import { organization } from "../organization";
import { pathOf } from "../url";

/** Says that a price was saved, and leads to the dialog that gives stored calls their cost by it. */
export function Saved({ row }: { row: PriceRow | null }) {
  const org = organization();
  if (!row || !org) return null;
  return (
    <p class="notice" role="status">
      The price of {row.model} holds for the next calls; stored calls keep their cost.{" "}
      {can("settings:write") && (
        <a class="link" href={`${pathOf(org, "prices")}?reprice=${encodeURIComponent(row.valid_from ?? "all")}`}>
          Reprice stored calls
        </a>
      )}
    </p>
  );
}
