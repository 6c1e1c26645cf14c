import { useEffect, useRef, useState } from "preact/hooks";
import { Combobox } from "../form/combobox";
import { param, setQuery } from "../router";
import { attributeParam, splitValues } from "../url";
import { readAttributeKeys, readAttributeValues } from "./values";

/** The filter by an attribute: its key, and in the same place its values. State: `attr.<key>` of the URL. */
export function AttributeFilter({ label }: { label: string }) {
  const [key, setKey] = useState<string | null>(null);
  if (key !== null) return <Values label={`${label}: ${key}`} of={key} onLeave={() => setKey(null)} />;
  return (
    <Combobox
      class="filter"
      label={label}
      placeholder={label}
      values={[]}
      choices={readAttributeKeys}
      typed
      // Once the field has given up its text: it would say that the text was not taken.
      onChange={([chosen]) => setTimeout(() => setKey(chosen ?? null))}
    />
  );
}

function Values({ label, of, onLeave }: { label: string; of: string; onLeave: () => void }) {
  const field = useRef<HTMLSpanElement>(null);
  const name = attributeParam(of);
  useEffect(() => {
    // The field of the key had the focus, and is gone.
    const input = field.current!.querySelector("input")!;
    input.focus();
    input.click();
  }, []);
  return (
    <span ref={field} onFocusOut={onLeave}>
      <Combobox
        class="filter"
        label={label}
        placeholder={of}
        values={splitValues(param(name))}
        choices={(text) => readAttributeValues(of, text)}
        asks
        several
        typed
        onChange={(values) => setQuery({ [name]: values })}
      />
    </span>
  );
}
