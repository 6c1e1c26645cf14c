import { useEffect, useState } from "preact/hooks";

const EVERY_MS = 15_000;

interface Lag {
  seconds: number | null;
}

async function readLag(): Promise<Lag | null> {
  try {
    // 503 has the same body: the figure counts also while something else is down.
    const response = await fetch("/v1/ready", { cache: "no-store" });
    const { checks } = (await response.json()) as { checks: { ingest_lag_secs: number | null } };
    return { seconds: checks.ingest_lag_secs };
  } catch {
    return null;
  }
}

/** The line at the foot of the navigation: how far behind the store is. */
export function Stored() {
  const [lag, setLag] = useState<Lag | null>(null);
  useEffect(() => {
    const read = () => {
      if (!document.hidden) void readLag().then(setLag);
    };
    read();
    const timer = setInterval(read, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  if (!lag) return null;
  const late = lag.seconds === null || lag.seconds > 30;
  const text =
    lag.seconds === null ? "storing is interrupted" : `stored up to ${Math.max(1, Math.round(lag.seconds))} s ago`;
  return (
    <p class="nav-foot">
      <span class={late ? "dot dot-warn" : "dot dot-ok"} />
      {text}
    </p>
  );
}
