import { type Options, request, requestEvents } from "../api/request";
import type { ConversationDetail, ConversationList, ConversationRow } from "../api/types";
import type { PageOf } from "../kit/data/load";
import type { Artifact } from "./frames";

const PAGE_ROWS = 50;
/** As many as a menu shows without scrolling. */
const NEWEST = 15;

/** A message as conversations keep it. */
export interface Said {
  role: "user" | "assistant";
  content: { text: string };
}

export interface Question {
  messages: Said[];
  conversationId: string | null;
  pageContext: { path: string; title: string };
  pageActions: string[];
}

/** Asks, and gives the text of the stream as it comes. After a break it goes on behind `lastEventId`. */
export function ask(
  question: Question,
  lastEventId: string | null,
  take: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  return requestEvents("POST /agent/chat", { body: question }, take, { signal, lastEventId });
}

/** The newest conversations, for the menu. */
export function readConversations(options: Options): Promise<ConversationList> {
  return request("GET /agent/conversations", { query: { limit: NEWEST } }, options);
}

export async function listConversations(cursor: string | null, options: Options): Promise<PageOf<ConversationRow>> {
  const { conversations, next_cursor } = await request(
    "GET /agent/conversations",
    { query: { limit: PAGE_ROWS, ...(cursor !== null && { cursor }) } },
    options,
  );
  return { rows: conversations, next: next_cursor };
}

export function readConversation(conversation_id: string): Promise<ConversationDetail> {
  return request("GET /agent/conversations/{conversation_id}", { path: { conversation_id } });
}

export async function deleteConversation(conversation_id: string): Promise<void> {
  await request("DELETE /agent/conversations/{conversation_id}", { path: { conversation_id } });
}

/** Keeps a thread; creates its conversation first if it has none. Returns its id. */
export async function keep(id: string | null, messages: Said[]): Promise<string> {
  const title = messages[0]!.content.text.slice(0, 80);
  const conversation_id = id ?? (await request("POST /agent/conversations", { body: { title } })).id;
  await request("PUT /agent/conversations/{conversation_id}/messages", {
    path: { conversation_id },
    body: { messages },
  });
  return conversation_id;
}

/** Stores a draft through its normal route, as the person who approves it. */
export async function approve({ kind, route, body }: Artifact): Promise<void> {
  if (kind === "saved_query") await request("POST /queries", { body: body as never });
  else if (kind === "alert") await request("POST /alerts", { body: body as never });
  else if (kind === "tile") {
    const dashboard_id = route.split("/")[2]!;
    await request("POST /dashboards/{dashboard_id}/tiles", { path: { dashboard_id }, body: body as never });
  }
}
