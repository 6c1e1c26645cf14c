import { type Options, request } from "../api/request";
import type { DeletionBody, DeletionDetail, DeletionPreview, DeletionRow } from "../api/types";
import type { PageOf } from "../kit/data/load";

export const PAGE_ROWS = 50;

/** Deletions, newest first. The cursor is the position in the list. */
export async function listDeletions(cursor: string | null, options: Options): Promise<PageOf<DeletionRow>> {
  const offset = Number(cursor ?? 0);
  const { deletions } = await request("GET /deletions", { query: { limit: PAGE_ROWS, offset } }, options);
  return { rows: deletions, next: deletions.length === PAGE_ROWS ? `${offset + PAGE_ROWS}` : null };
}

/** A deletion with the statements that show that nothing is left. */
export function readDeletion(id: string, options: Options): Promise<DeletionDetail> {
  return request("GET /deletions/{deletion_id}", { path: { deletion_id: id } }, options);
}

/** Counts what a deletion would remove now. */
export function previewDeletion(body: DeletionBody): Promise<DeletionPreview> {
  return request("POST /deletions/preview", { body });
}

export function requestDeletion(body: DeletionBody): Promise<DeletionRow> {
  return request("POST /deletions", { body });
}
