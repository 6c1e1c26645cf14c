import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../../api/errors";
import { request } from "../../api/request";
import { Page } from "../page";

/** Stands in place of content that the person may not see, and names those who can grant it. */
export function Forbidden({ permission }: { permission: string }) {
  const [addresses, setAddresses] = useState<string[]>([]);
  useEffect(() => {
    const controller = new AbortController();
    request("GET /access-granters", {}, { signal: controller.signal }).then(
      (granters) => setAddresses(granters.map(({ email }) => email)),
      () => undefined,
    );
    return () => controller.abort();
  }, []);
  return (
    <section class="state">
      <h2>You need the permission {permission}.</h2>
      {addresses.length > 0 && <p>Ask: {addresses.join(", ")}</p>}
    </section>
  );
}

interface FailedProps {
  error: unknown;
  onRetry?: (() => void) | undefined;
}

/** Stands in place of content that could not be read: the reason, and a way to try again. */
export function Failed({ error, onRetry }: FailedProps) {
  if (error instanceof ApiError && error.requiredPermission) return <Forbidden permission={error.requiredPermission} />;
  const sentence = error instanceof Error ? error.message : `${error}`;
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <section class="state state-error" role="alert">
      <h2>{sentence[0]?.toUpperCase() + sentence.slice(1)}</h2>
      {requestId && <p class="mono">request {requestId}</p>}
      {onRetry && (
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </section>
  );
}

interface EmptyProps {
  title: string;
  children?: ComponentChildren;
}

/** Stands in place of an empty list: names the lack, and offers a way out. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <section class="state">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** The page of a path that leads nowhere, or to an organization that one is no member of. */
export function NotFound() {
  return (
    <Page title="Not found">
      <section class="state">
        <p>There is nothing at this address, or you are not a member of its organization.</p>
        <a class="button" href="/">
          Go to the sessions
        </a>
      </section>
    </Page>
  );
}
