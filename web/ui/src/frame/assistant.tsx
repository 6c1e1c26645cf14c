import { useEffect } from "preact/hooks";
import { request } from "../api/request";
import { can, session } from "../api/session";
import { Icon } from "../kit/icon";
import { lazy } from "../kit/lazy";
import { organization } from "../kit/organization";
import { useShortcuts } from "../kit/shortcuts";
import { assistantOpen, hasAssistant } from "./open";

const Rail = lazy(() => import("../assistant/rail"));

/** Whether the person can ask here. */
function mayAsk(): boolean {
  return hasAssistant.value && organization() !== null && can("agent:use");
}

function toggle(): void {
  assistantOpen.value = !assistantOpen.value;
}

/** The rail with the assistant beside the page, if it is open. */
export function Assistant() {
  const person = session.value?.id;
  useEffect(() => {
    // Without an answer there is no assistant, and nothing to say about it.
    if (person)
      void request("GET /agent/health", {}, { personal: true }).then(
        ({ enabled }) => (hasAssistant.value = enabled),
        () => undefined,
      );
  }, [person]);
  useShortcuts(mayAsk() ? [{ keys: "Mod+j", label: "Assistant", run: toggle }] : []);
  if (!mayAsk() || !assistantOpen.value) return null;
  return <Rail org={organization()!} onClose={toggle} />;
}

/** The button in the banner. */
export function AssistantButton() {
  if (!mayAsk()) return null;
  return (
    <button
      type="button"
      class="button ghost"
      aria-label="Assistant"
      aria-expanded={assistantOpen.value}
      onClick={toggle}
    >
      <Icon name="message-square" />
    </button>
  );
}
