import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../api/errors";
import { request } from "../api/request";
import type { OpenSession } from "../api/types";
import { preferences } from "../kit/preferences";
import { formatFully, zoneName } from "../kit/time/time";

/** The person's sessions. Each can be ended, and all others at once. */
export function Sessions() {
  const [rows, setRows] = useState<OpenSession[]>([]);
  const [problem, setProblem] = useState("");
  const [byProxy, setByProxy] = useState(false);
  const read = async () => {
    try {
      setRows(await request("GET /auth/sessions", {}, { personal: true }));
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401)) throw error;
      // Somebody who is signed in without a session is named by a proxy in each request.
      await request("GET /auth/session", {}, { personal: true });
      setByProxy(true);
    }
  };
  const run = (step: () => Promise<unknown>) =>
    void step()
      .then(read)
      .then(
        () => setProblem(""),
        () => setProblem("That did not work. Try again."),
      );
  useEffect(() => run(async () => undefined), []);
  const zone = zoneName(preferences.value.zone);
  return (
    <section class="profile-sessions" aria-label="Sessions">
      <h2>Sessions</h2>
      {problem && (
        <p class="notice err" role="alert">
          {problem}
        </p>
      )}
      {byProxy && <p>The proxy in front of Watchpost signs you in and out.</p>}
      <ul>
        {rows.map((row) => (
          <li key={row.id}>
            <span>
              {[row.browser ?? "Unknown browser", row.address].filter(Boolean).join(", ")}
              <span class="field-hint">
                {row.is_current ? "This session. " : ""}Last used {formatFully(new Date(row.last_used_at), zone)}
              </span>
            </span>
            {!row.is_current && (
              <button
                type="button"
                class="button small"
                onClick={() =>
                  run(() =>
                    request("DELETE /auth/sessions/{session_id}", { path: { session_id: row.id } }, { personal: true }),
                  )
                }
              >
                Sign out
              </button>
            )}
          </li>
        ))}
      </ul>
      {rows.length > 1 && (
        <button
          type="button"
          class="button"
          onClick={() => run(() => request("DELETE /auth/sessions", {}, { personal: true }))}
        >
          Sign out everywhere else
        </button>
      )}
    </section>
  );
}
