// Printing. Paper does not scroll, so that every turn and its texts have to be there before it begins.
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../../kit/icon";
import { announce } from "../../../kit/overlay/announce";
import { useShortcuts } from "../../../kit/shortcuts";
import type { Payloads } from "../payloads";
import type { View } from "../view";

/** Button "Print", which Mod+P presses too: reads the texts that were never in view, then prints. */
export function PrintButton({ view, payloads }: { view: View; payloads: Payloads }) {
  const stop = useRef<AbortController | null>(null);
  usePrinting(view);
  useEffect(() => () => stop.current?.abort(), []);
  const print = async () => {
    stop.current?.abort();
    const { signal } = (stop.current = new AbortController());
    announce("Reading the texts to print");
    try {
      await Promise.all([view.source.whole(), payloads.readAll(signal)]);
      if (signal.aborted) return;
      view.printing.value = true;
      printDrawn(view);
    } catch (error) {
      if (!signal.aborted) announce(error instanceof Error ? error.message : "The texts did not load");
    }
  };
  useShortcuts([{ keys: "Mod+p", label: "Print the transcript", run: () => void print() }]);
  return (
    <button type="button" class="button ghost" aria-label="Print" title="Print" onClick={() => void print()}>
      <Icon name="printer" />
    </button>
  );
}

/** Prints once every turn is in the page, which can take a busy machine several frames. */
function printDrawn(view: View): void {
  requestAnimationFrame(() => {
    if (document.querySelector(".transcript-chunk:empty") && view.printing.value) printDrawn(view);
    else setTimeout(() => window.print());
  });
}

/** Printing from the browser's menu begins at once: every turn is printed, with the texts that are here. */
function usePrinting(view: View): void {
  useEffect(() => {
    const begin = () => void (view.printing.value = true);
    const end = () => void (view.printing.value = false);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      end();
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, [view]);
}
