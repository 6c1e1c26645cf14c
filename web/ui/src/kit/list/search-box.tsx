import { Icon } from "../icon";
import { param, setQuery, typeQuery } from "../router";

interface Props {
  label: string;
  /** The parameter that holds the text. */
  name?: string;
  /** Characters that the server takes. */
  most?: number;
}

/** The search box of a list. What is typed is in the URL at once; Enter or leaving makes a step of it. */
export function SearchBox({ label, name = "search", most = 256 }: Props) {
  const text = param(name) ?? "";
  return (
    <label class="search-box">
      <Icon name="search" />
      <input
        type="search"
        class="input"
        aria-label={label}
        placeholder={label}
        maxLength={most}
        data-search
        value={text}
        onInput={(event) => typeQuery({ [name]: event.currentTarget.value })}
        onChange={() => setQuery({})}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          if (text) setQuery({ [name]: null });
          else event.currentTarget.blur();
        }}
      />
    </label>
  );
}
