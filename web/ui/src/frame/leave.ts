// One person at a time: when somebody signs out or in, nothing of the last person stays in any tab.
import { render } from "preact";
import { endSession, session } from "../api/session";
import { forgetOrganization } from "../kit/organization";
import { announce } from "../kit/overlay/announce";

const people = new BroadcastChannel("wp-person");

/** Drops everything that this page holds, and loads another one. */
function leaveTab(path: string): void {
  // The page goes first, so that no form asks whether to stay, and nothing is seen until the next one is there.
  render(null, document.getElementById("app")!);
  forgetOrganization();
  sessionStorage.clear();
  location.replace(path);
}

/** Tells other tabs whose the browser is now; null: nobody's. They drop what is another person's. */
export function tellPerson(id: string | null): void {
  people.postMessage(id);
}

/** Signs this page's person off, in all tabs. */
export function leave(path: string): void {
  tellPerson(null);
  leaveTab(path);
}

/** Leaves when another tab has told of another person. Called once. */
export function followOthers(): void {
  people.onmessage = ({ data }) => {
    const known = session.peek();
    if (known && known.id !== data) leaveTab("/");
  };
}

/** Ends the session on the server, and leaves every tab. */
export async function signOut(): Promise<void> {
  try {
    await endSession();
    leave("/sign-in");
  } catch (error) {
    announce(`Sign out: ${error instanceof Error ? error.message : error}`);
  }
}
