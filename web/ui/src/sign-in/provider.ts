/** The name of the provider at which people can sign in too, if there is one. */
export function provider(): string | undefined {
  return document.querySelector<HTMLMetaElement>("meta[name=wp-oidc]")?.content;
}

/** Whether people can sign in with mailed codes. */
export function hasCodes(): boolean {
  return document.querySelector("meta[name=wp-codes][content=off]") === null;
}

/** Where sign-in at the provider begins. It leads back to the page that was asked for. */
export function providerPath(): string {
  const next = new URLSearchParams(location.search).get("next") ?? "/";
  return `/sign-in/oidc?next=${encodeURIComponent(next)}`;
}
