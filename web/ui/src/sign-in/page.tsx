import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api/errors";
import { Brand } from "../kit/brand";
import { mailIsSetUp } from "../kit/mail";
import { Page } from "../kit/page";
import { param } from "../kit/router";
import { ownPath } from "../kit/url";
import { requestCode, verifyCode } from "./api";
import { codeOf, isWhole, messageOf } from "./model";
import { hasCodes, provider, providerPath } from "./provider";

interface Props {
  onSignedIn: () => Promise<void>;
  /** The address of a person who is signed in already, and followed a link of a mail. */
  person?: string | undefined;
}

/** The page "Sign in": an address, then the code that was sent to it. */
export default function SignInPage({ onSignedIn, person }: Props) {
  const [email, setEmail] = useState("");
  const [sent, setSent] = useState(false);
  return (
    <main class="sign-in">
      <div class="sign-in-box">
        <p class="sign-in-brand">
          <Brand />
        </p>
        <Page title="Sign in" />
        {person && (
          <p>
            You are signed in as {person}.{" "}
            <a class="link" href={ownPath(param("next"))}>
              Open Watchpost
            </a>
          </p>
        )}
        {provider() && !sent && (
          <a class="button" href={providerPath()}>
            Sign in with {provider()}
          </a>
        )}
        {sent ? (
          <CodeForm email={email} onSignedIn={onSignedIn} onBack={() => setSent(false)} />
        ) : (
          hasCodes() && <EmailForm email={email} onChange={setEmail} onSent={() => setSent(true)} />
        )}
      </div>
    </main>
  );
}

/** Runs a step and keeps the sentence of its failure. */
function useStep(): [string | null, boolean, (step: () => Promise<void>) => Promise<void>] {
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const run = async (step: () => Promise<void>) => {
    setBusy(true);
    setProblem(null);
    try {
      await step();
    } catch (error) {
      setProblem(messageOf(error instanceof ApiError ? error : null));
    }
    setBusy(false);
  };
  return [problem, busy, run];
}

interface EmailProps {
  email: string;
  onChange: (email: string) => void;
  onSent: () => void;
}

function EmailForm({ email, onChange, onSent }: EmailProps) {
  const [problem, busy, run] = useStep();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    if (!busy && email.trim())
      void run(async () => {
        await requestCode(email.trim());
        onSent();
      });
  };
  return (
    <form class="form" onSubmit={submit} aria-busy={busy}>
      <label class="field">
        <span>E-mail</span>
        <input
          ref={field}
          class="input"
          type="email"
          autocomplete="username"
          required
          value={email}
          aria-describedby={problem ? "sign-in-problem" : undefined}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      </label>
      {problem && <Problem text={problem} />}
      <button type="submit" class="button primary">
        Send code
      </button>
    </form>
  );
}

interface CodeProps {
  email: string;
  onSignedIn: () => Promise<void>;
  onBack: () => void;
}

function CodeForm({ email, onSignedIn, onBack }: CodeProps) {
  const [code, setCode] = useState("");
  const [problem, busy, run] = useStep();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const enter = (text: string) => {
    if (busy || !isWhole(text)) return;
    void run(async () => {
      try {
        await verifyCode(email.trim(), text);
      } catch (error) {
        setCode("");
        field.current?.focus();
        throw error;
      }
      await onSignedIn();
    });
  };
  return (
    <form
      class="form"
      aria-busy={busy}
      onSubmit={(event) => {
        event.preventDefault();
        enter(code);
      }}
    >
      {mailIsSetUp() ? (
        <p class="soft">If {email} is a member, a code is on its way there.</p>
      ) : (
        <div class="sign-in-log">
          <p>Mail is not set up: the code is in the worker's log</p>
          <code>grep mailed_code .devstack/logs/worker.log | tail -n 1</code>
        </div>
      )}
      <label class="field">
        <span>Code</span>
        <input
          ref={field}
          class="input code"
          type="text"
          autocomplete="one-time-code"
          autocapitalize="none"
          pattern="[0-9]{6}|[a-z]{12}"
          value={code}
          aria-describedby={problem ? "sign-in-problem" : undefined}
          onInput={(event) => {
            const typed = codeOf(event.currentTarget.value);
            event.currentTarget.value = typed;
            setCode(typed);
            enter(typed);
          }}
        />
      </label>
      {problem && <Problem text={problem} />}
      <button type="submit" class="button primary">
        Sign in
      </button>
      <button type="button" class="button ghost" onClick={onBack}>
        Use another address
      </button>
    </form>
  );
}

function Problem({ text }: { text: string }) {
  return (
    <p id="sign-in-problem" class="notice err" role="alert">
      {text}
    </p>
  );
}
