import { useMemo, useState } from "preact/hooks";
import { can } from "../api/session";
import { Failed, Forbidden } from "../kit/data/states";
import { commandFor, type Language } from "../kit/form/first-event";
import { newSecret } from "../kit/form/secret";
import { Tabs } from "../kit/overlay/tabs";
import { Page, type PageProps } from "../kit/page";
import { copy } from "../kit/text/clipboard";
import { pathOf } from "../kit/url";
import { type Arrival, createKey, type Made } from "./api";
import { useArrived } from "./arrived";

const LANGUAGES: readonly Language[] = ["curl", "Python", "OpenTelemetry"];

/** The page "Send your first event". */
export default function StartPage({ org }: PageProps) {
  const [made, setMade] = useState<Made | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [language, setLanguage] = useState<Language>("curl");
  const first = useArrived(made);
  const command = useMemo(
    () => commandFor(language, location.origin, made?.secret ?? "<key>", new Date()),
    [language, made],
  );
  const create = async () => {
    setBusy(true);
    setError(null);
    const secret = newSecret();
    try {
      setMade(await createKey(`first-event-${secret.slice(-6)}`, secret));
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return (
    <Page title="Send your first event">
      <div class="start">
        <ol class="start-steps">
          <li>
            <h2>Make a key that may only send events</h2>
            {can("keys:create") ? (
              <button
                type="button"
                class={made || first ? "button" : "button primary"}
                aria-disabled={busy}
                onClick={() => !busy && void create()}
              >
                Create a key
              </button>
            ) : (
              <Forbidden permission="keys:create" />
            )}
            {error !== null && <Failed error={error} />}
          </li>
          <li>
            <h2>{language === "OpenTelemetry" ? "Set this where your agent runs" : "Run this in a terminal"}</h2>
            <div class="panel">
              <Tabs
                label="Language"
                tabs={LANGUAGES.map((id) => ({ id, label: id }))}
                value={language}
                onChange={(id) => setLanguage(id as Language)}
              >
                <textarea
                  class="start-command mono"
                  aria-label="Command"
                  readOnly
                  rows={language === "Python" ? 11 : 4}
                  value={command}
                  onFocus={(event) => event.currentTarget.select()}
                />
              </Tabs>
            </div>
            <p class="soft">
              {made ? "The command holds the key. It is shown only now." : "The key takes the place of <key>."}
            </p>
            <button
              type="button"
              class={made && !first ? "button primary" : "button"}
              onClick={() => void copy(command, "Copy command")}
            >
              Copy command
            </button>
          </li>
          <li>
            <h2>See it arrive</h2>
            <p role="status" class={first ? "ok" : "soft"}>
              {first ? "First event received" : "Waiting for the first event…"}
            </p>
            {first && <Next org={org} arrival={first} />}
          </li>
        </ol>
      </div>
    </Page>
  );
}

/** The way to what arrived: its session where that is known. */
function Next({ org, arrival: { session } }: { org: string; arrival: Arrival }) {
  if (session !== null)
    return (
      <a class="button primary" href={pathOf(org, "sessions", session)}>
        Open session {session}
      </a>
    );
  const [page, name] = can("evaluations:read") ? ["sessions", "Sessions"] : ["sources", "Sources"];
  return (
    <a class="button primary" href={pathOf(org, page)}>
      Open {name}
    </a>
  );
}
