import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../icon";
import { visits } from "../router";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** "wide" for tables and editors, "side" at the right edge. */
  kind?: "wide" | "side" | "palette" | undefined;
  /** Asked before the dialog is closed by Escape or its button. */
  mayClose?: (() => Promise<boolean>) | undefined;
}

/** A modal dialog. It traps the focus, and gives it back. */
export function Dialog({ title, onClose, children, kind, mayClose }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // At once, so that the next key is not for the page behind it.
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const dialog = element.current!;
    dialog.showModal();
    dialog.querySelector<HTMLElement>("[autofocus]")?.focus();
    return () => {
      // While it is open, nothing behind it takes the focus.
      dialog.close();
      if (before?.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  const close = async () => {
    if (!mayClose || (await mayClose())) onClose();
  };
  return (
    <dialog
      ref={element}
      class={kind ? `dialog ${kind}` : "dialog"}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        if (event.target === event.currentTarget) void close();
      }}
      onMouseDown={(event) => event.target === event.currentTarget && void close()}
    >
      <div class="dialog-body">
        <header class={kind === "palette" ? "visually-hidden" : "dialog-head"}>
          <h2 id={heading}>{title}</h2>
          <button type="button" class="button ghost" aria-label="Close" onClick={() => void close()}>
            <Icon name="x" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface Question {
  /** The dialog's title: "Delete nightly?" */
  title: string;
  /** The button that goes on: "Delete" */
  verb: string;
  text?: string | undefined;
  /** Whether going on destroys something. Default: true. */
  danger?: boolean;
}

const asked = signal<(Question & { answer: (yes: boolean) => void }) | null>(null);

/** Asks before something is destroyed or lost. Resolves to whether to go on. */
export function confirm(question: Question): Promise<boolean> {
  asked.peek()?.answer(false);
  return new Promise((resolve) => {
    const answer = (yes: boolean) => {
      asked.value = null;
      resolve(yes);
    };
    asked.value = { ...question, answer };
  });
}

/** The dialog of `confirm`. The frame shows it. */
export function Confirmation() {
  const question = asked.value;
  const visit = visits.value;
  // The page that asked is gone: its answer must not act on the next one.
  useEffect(() => () => asked.peek()?.answer(false), [visit]);
  if (!question) return null;
  const { title, verb, text, danger = true, answer } = question;
  return (
    <Dialog title={title} onClose={() => answer(false)}>
      {text && <p class="dialog-text">{text}</p>}
      <footer class="dialog-foot">
        <button type="button" class="button" onClick={() => answer(false)}>
          Cancel
        </button>
        <button
          type="button"
          class={danger ? "button primary danger" : "button primary"}
          autofocus
          onClick={() => answer(true)}
        >
          {verb}
        </button>
      </footer>
    </Dialog>
  );
}
