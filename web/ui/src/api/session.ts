// The person who is signed in, and their permissions in the organization of the URL.
import { signal } from "@preact/signals";
import { ApiError } from "./errors";
import { hooks, request } from "./request";
import type { SessionMembership, SignInSession } from "./types";

/** undefined: not known yet. null: nobody is signed in. */
export const session = signal<SignInSession | null | undefined>(undefined);

/** Reads the session from the server; null: nobody is signed in. */
export async function readSession(): Promise<SignInSession | null> {
  try {
    return await request("GET /auth/session", {}, { personal: true });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    return null;
  }
}

/** Ends the session on the server. */
export async function endSession(): Promise<void> {
  await request("POST /auth/logout", {}, { personal: true, retry: true });
}

/** The membership in the organization of the URL, null for everyone else. */
export function membership(): SessionMembership | null {
  const slug = hooks.org();
  return session.value?.memberships.find(({ org_slug }) => org_slug === slug) ?? null;
}

/** Whether the person holds the permission here. */
export function can(permission: string): boolean {
  return membership()?.permissions.includes(permission) ?? false;
}
