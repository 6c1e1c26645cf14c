import { render } from "preact";
import { hooks } from "./api/request";
import { App, askToSignIn } from "./frame/app";
import { followOthers } from "./frame/leave";
import { organization } from "./kit/organization";
import { startPreferences } from "./kit/preferences";
import { startRouter } from "./kit/router";
import { startShortcuts } from "./kit/shortcuts";
import { startVisible } from "./kit/text/visible";

hooks.org = organization;
hooks.onUnauthorized = askToSignIn;
startVisible();
startPreferences();
followOthers();
startRouter();
startShortcuts();
// A page that the browser kept in memory could show the data of somebody who has signed out.
addEventListener("pageshow", (event) => event.persisted && location.reload());
render(<App />, document.getElementById("app")!);
