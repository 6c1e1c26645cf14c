import { useMemo } from "preact/hooks";
import { can, membership, session } from "../api/session";
import { Boundary } from "../kit/boundary";
import { Empty, Forbidden, NotFound } from "../kit/data/states";
import { lazy } from "../kit/lazy";
import { organization } from "../kit/organization";
import { announcement } from "../kit/overlay/announce";
import { Confirmation } from "../kit/overlay/dialog";
import { Page, type PageProps } from "../kit/page";
import { place } from "../kit/router";
import { match, type Route } from "../routes";
import { Assistant } from "./assistant";
import { Banner } from "./banner";
import { Keys } from "./keys";
import { Navigation } from "./navigation";
import { assistantOpen, hasAssistant } from "./open";
import { Palette } from "./palette";

const Profile = lazy(() => import("../profile/page"));
const components = new Map<Route, ReturnType<typeof lazy<PageProps>>>();

function componentOf(route: Route) {
  const found = components.get(route) ?? lazy(route.load);
  components.set(route, found);
  return found;
}

function Content() {
  const { base, org, segments } = place.value;
  const key = segments.join("\n");
  const found = useMemo(() => match(segments), [key]);
  if (base === "/profile") return <Profile />;
  if (session.value?.memberships.length === 0) return <NoOrganization />;
  if (base !== "/o" || org === null || !membership() || !found) return <NotFound />;
  const { route, id } = found;
  if (route.permissions.length && !route.permissions.some(can))
    return (
      <Page title={route.title}>
        <Forbidden permission={route.permissions[0]!} />
      </Page>
    );
  const Component = componentOf(route);
  return (
    <Boundary key={`${org}\n${route.path}\n${id}`} title={route.title}>
      <Component org={org} id={id} />
    </Boundary>
  );
}

/** The page of a person whom nobody has invited yet, or whose last organization is gone. */
function NoOrganization() {
  return (
    <Page title="No organization">
      <Empty title="You are not a member of any organization">
        <p>Ask an administrator to invite {session.value?.email}.</p>
      </Empty>
    </Page>
  );
}

/** Everything around a page. */
export function Frame() {
  return (
    <div class="frame" data-assistant={assistantOpen.value && hasAssistant.value ? "" : undefined}>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <Banner />
      <Navigation key={organization()} />
      <main id="content" class="main" tabIndex={-1}>
        <Content />
      </main>
      <Assistant />
      <div class="announcement" role="status" aria-live="polite">
        {announcement.value}
      </div>
      <Keys />
      <Palette />
      <Confirmation />
    </div>
  );
}
