import { type Options, request } from "../api/request";
import type { GrantBody, InvitationBody, SetRow, UserRow } from "../api/types";

export interface Members {
  users: UserRow[];
  sets: SetRow[];
}

/** The members, and the sets that they may hold. */
export async function readMembers(options: Options): Promise<Members> {
  const [users, sets] = await Promise.all([
    request("GET /users", {}, options),
    request("GET /permission-sets", {}, options),
  ]);
  return { users, sets };
}

export function invite(body: InvitationBody): Promise<UserRow> {
  return request("POST /users", { body });
}

export function changeGrant(user_id: string, body: GrantBody): Promise<UserRow> {
  return request("PUT /users/{user_id}", { path: { user_id }, body });
}

export function disableMember(user_id: string): Promise<UserRow> {
  return request("DELETE /users/{user_id}", { path: { user_id } });
}

export function enableMember(user_id: string): Promise<UserRow> {
  return request("POST /users/{user_id}/enable", { path: { user_id } });
}
