import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { can } from "../api/session";
import { copy } from "../kit/clipboard";
import { commandFor, type Language } from "../kit/first-event";
import { Page, type PageProps } from "../kit/page";
import { newSecret } from "../kit/secret";
import { Failed, Forbidden } from "../kit/states";
import { Tabs } from "../kit/tabs";
import { pathOf } from "../kit/url";
import { anySession, createKey } from "./api";

const LANGUAGES: readonly Language[] = ["curl", "Python"];
const ASK_EVERY_MS = 2000;

/**
 * A session that has arrived, null until there is one. Once a key is made in an organization with
 * sessions, only that of the command counts: the others say nothing about this key.
 */
function useArrived(madeAt: string | null): string | null {
  const [found, setFound] = useState<string | null>(null);
  const earlier = useRef(false);
  const allowed = can("evaluations:read");
  useEffect(() => {
    if (!allowed) return;
    const since = earlier.current ? madeAt : null;
    setFound(null);
    const controller = new AbortController();
    const ask = async () => {
      if (document.hidden) return;
      const session = await anySession(since, { signal: controller.signal }).catch(() => null);
      if (session === null || controller.signal.aborted) return;
      earlier.current ||= madeAt === null;
      setFound(session);
      clearInterval(timer);
    };
    const timer = setInterval(() => void ask(), ASK_EVERY_MS);
    void ask();
    return () => {
      controller.abort();
      clearInterval(timer);
    };
  }, [allowed, madeAt]);
  return found;
}

/** The page "Send your first event". */
export default function StartPage({ org }: PageProps) {
  const [made, setMade] = useState<{ secret: string; at: string } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [language, setLanguage] = useState<Language>("curl");
  const first = useArrived(made?.at ?? null);
  const command = useMemo(() => commandFor(language, location.origin, made?.secret ?? "<key>", new Date()), [language, made]);
  const create = async () => {
    setBusy(true);
    setError(null);
    const secret = newSecret();
    const at = new Date().toISOString();
    try {
      await createKey(`first-event-${secret.slice(-6)}`, secret);
      setMade({ secret, at });
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
              <button type="button" class={made || first ? "button" : "button primary"} aria-disabled={busy} onClick={() => !busy && void create()}>
                Create a key
              </button>
            ) : (
              <Forbidden permission="keys:create" />
            )}
            {error !== null && <Failed error={error} />}
          </li>
          <li>
            <h2>Run this in a terminal</h2>
            <div class="panel">
              <Tabs label="Language" tabs={LANGUAGES.map((id) => ({ id, label: id }))} value={language} onChange={(id) => setLanguage(id as Language)}>
                <textarea class="start-command mono" aria-label="Command" readOnly rows={language === "curl" ? 4 : 11} value={command} onFocus={(event) => event.currentTarget.select()} />
              </Tabs>
            </div>
            <p class="soft">{made ? "The command holds the key. It is shown only now." : "The key takes the place of <key>."}</p>
            <button type="button" class={made && !first ? "button primary" : "button"} onClick={() => void copy(command, "Copy command")}>
              Copy command
            </button>
          </li>
          <li>
            <h2>See it arrive</h2>
            <p role="status" class={first ? "ok" : "soft"}>
              {first ? "First event received" : "Waiting for the first event…"}
            </p>
            {first && (
              <a class="button primary" href={pathOf(org, "sessions", first)}>
                Open session {first}
              </a>
            )}
          </li>
        </ol>
      </div>
    </Page>
  );
}
