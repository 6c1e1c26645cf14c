import type { QueryResult } from "../../api/types";
import { Combobox } from "../form/combobox";
import { CHART_TYPES, type ChartFields, type ChartType } from "./model";

interface Props {
  result: QueryResult;
  type: ChartType;
  fields: ChartFields;
  /** The types that can be chosen. */
  types?: readonly ChartType[];
  onChange: (type: ChartType, fields: ChartFields) => void;
}

/** Comboboxes for the type of a chart and the columns that it draws. */
export function ChartChoices({ result: { columns }, type, fields, types = CHART_TYPES, onChange }: Props) {
  const names = columns.map(({ name }) => name);
  const drawn = type !== "kpi" && type !== "table";
  return (
    <div class="chart-choices">
      <label>
        Chart type{" "}
        <Combobox
          label="Chart type"
          values={[type]}
          choices={types}
          onChange={([next]) => next && onChange(next as ChartType, fields)}
        />
      </label>
      {drawn && (
        <label>
          Axis{" "}
          <Combobox
            label="Axis"
            values={[fields.x]}
            choices={names}
            onChange={([x]) => x && onChange(type, { ...fields, x })}
          />
        </label>
      )}
      {type !== "table" && (
        <label>
          Values{" "}
          <Combobox
            label="Values"
            several
            placeholder={fields.y.join(", ")}
            values={fields.y}
            choices={names}
            onChange={(y) => onChange(type, { ...fields, y })}
          />
        </label>
      )}
      {drawn && type !== "pie" && (
        <label>
          Series{" "}
          <Combobox
            label="Series"
            values={[fields.series]}
            placeholder="none"
            choices={names}
            onChange={([series = ""]) => onChange(type, { ...fields, series })}
          />
        </label>
      )}
    </div>
  );
}
