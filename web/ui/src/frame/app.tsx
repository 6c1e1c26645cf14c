import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { readSession, session } from "../api/session";
import { Failed } from "../kit/data/states";
import { lazy } from "../kit/lazy";
import { forgetOrganization, organization, rememberOrganization } from "../kit/organization";
import { navigate, place } from "../kit/router";
import { ownPath, pathOf } from "../kit/url";
import { Frame } from "./frame";
import { leave, tellPerson } from "./leave";

const SignIn = lazy(() => import("../sign-in/page"));

/** After a 401: where to go on. The page below stays mounted, so that nothing typed is lost. */
interface Interrupted {
  next: string;
  again: Promise<void>;
  resume: () => void;
}

const interrupted = signal<Interrupted | null>(null);

function signInPath(): string {
  return `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`;
}

/** Shows the sign-in page, which leads back here. Many requests may fail at once; one asks. */
export function askToSignIn(): Promise<void> {
  if (interrupted.value) return interrupted.value.again;
  let resume: () => void = () => undefined;
  const again = new Promise<void>((resolve) => (resume = resolve));
  interrupted.value = { next: location.pathname + location.search, again, resume };
  history.pushState(history.state, "", signInPath());
  return again;
}

/**
 * The slug of the open organization, else of the one that was open last, else of the first one. The person opens
 * an invitation, since a request that names its organization takes it up.
 */
function ownOrganization(): string | undefined {
  const all = session.value?.memberships ?? [];
  const own = all.find(({ org_slug }) => org_slug === organization()) ?? all.find((one) => !one.is_pending) ?? all[0];
  return own?.org_slug;
}

async function signedIn(): Promise<void> {
  const found = await readSession();
  const page = interrupted.value;
  if (!page) {
    tellPerson(found?.id ?? null);
    session.value = found;
    return navigate(ownPath(new URLSearchParams(location.search).get("next")), { replace: true });
  }
  // Someone else must not see the page that the last person left.
  if (found?.id !== session.value?.id) return leave("/");
  session.value = found;
  interrupted.value = null;
  history.replaceState(history.state, "", page.next);
  page.resume();
}

function goOn(): void {
  const { base, org } = place.value;
  if (base === "/sign-in") return;
  if (session.value === null) {
    const path = base === "/" ? "/sign-in" : signInPath();
    return void navigate(path, { replace: true });
  }
  const own = ownOrganization();
  if (own === undefined) return;
  // Pages outside of an organization show the navigation of this one.
  if (org === null || org === own) rememberOrganization(own);
  if (base === "/") void navigate(pathOf(own, "sessions"), { replace: true });
}

/** The sign-in page above the page that it interrupts, which may show a modal dialog itself. */
function Interruption() {
  const layer = useRef<HTMLDialogElement>(null);
  useEffect(() => layer.current?.showModal(), []);
  return (
    <dialog ref={layer} class="interruption" aria-label="Sign in" onCancel={(event) => event.preventDefault()}>
      <SignIn onSignedIn={signedIn} />
    </dialog>
  );
}

/** The whole UI. */
export function App() {
  const [error, setError] = useState<unknown>(null);
  const start = () => {
    setError(null);
    readSession().then((found) => void (session.value = found), setError);
  };
  useEffect(start, []);
  const { base, org } = place.value;
  const known = session.value;
  useEffect(() => {
    if (known !== undefined) goOn();
    if (known === null) forgetOrganization();
  }, [known, base, org]);
  if (error) return <Failed error={error} onRetry={start} />;
  if (known === undefined) return null;
  if (base === "/sign-in") return <SignIn onSignedIn={signedIn} person={known?.email} />;
  if (known === null || (base === "/" && ownOrganization())) return null;
  return (
    <>
      {interrupted.value && <Interruption />}
      <div hidden={interrupted.value !== null}>
        <Frame />
      </div>
    </>
  );
}
