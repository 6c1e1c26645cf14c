import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { Failed } from "./data/states";
import { Page } from "./page";

/** Keeps a defect of a page within it: the navigation still leads to the others. */
export function Boundary({ title, children }: { title: string; children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary((defect: unknown) => console.error(defect));
  if (!error) return <>{children}</>;
  return (
    <Page title={title}>
      <Failed error={new Error("This page cannot show what it has read.")} onRetry={reset} />
    </Page>
  );
}
