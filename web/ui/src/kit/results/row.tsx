import { useState } from "preact/hooks";
import { Dialog } from "../overlay/dialog";
import { bytes } from "../text/formats";
import { Text } from "../text/text";
import { CopyButton } from "../text/values";
import { textOf } from "./model";

const SHOWN = 20_000;

interface Props {
  title: string;
  columns: readonly { name: string; type: string }[];
  values: readonly unknown[];
  onClose: () => void;
}

/** The dialog with all values of a row, one below the other. */
export function RowDialog({ title, columns, values, onClose }: Props) {
  return (
    <Dialog title={title} kind="wide" onClose={onClose}>
      <dl class="result-row">
        {columns.map(({ name, type }, index) => (
          <div key={index}>
            <dt title={type}>{name}</dt>
            <dd>
              <Value name={name} text={textOf(values[index])} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

/** A value. Of a long one comes a part at a time, as the browser needs seconds to lay out megabytes. */
function Value({ name, text }: { name: string; text: string }) {
  const [shown, setShown] = useState(SHOWN);
  if (text.length <= shown)
    return (
      <div class="result-value mono">
        <Text>{text}</Text>
      </div>
    );
  return (
    <>
      <div class="result-value mono" tabIndex={0}>
        <Text>{text.slice(0, shown)}</Text>
      </div>
      <p class="result-cut">
        shown {bytes(shown)} of {bytes(text.length)}
        <button type="button" class="button small" onClick={() => setShown(shown * 2)}>
          Show more
        </button>
        <CopyButton label={`Copy ${name}`} text={() => text} icon={false} />
      </p>
    </>
  );
}
