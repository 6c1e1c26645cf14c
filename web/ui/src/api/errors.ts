import type { ErrorBody } from "./types";

/** A request that failed: an answer of 400 or more, or no answer at all (`status` 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly body: Partial<ErrorBody>,
    readonly requestId: string | null,
    /** Seconds after which the server wants to be asked again. */
    readonly retryAfter: number | null,
  ) {
    super(body.error ?? sentenceFor(status));
  }

  /** Messages for each invalid field of a 422. */
  get fields(): Record<string, string[]> {
    return this.body.fields ?? {};
  }

  get requiredPermission(): string | null {
    return this.status === 403 ? (this.body.required_permission ?? null) : null;
  }

  /** The database's message about a failed query. */
  get detail(): string | null {
    return this.body.detail ?? null;
  }
}

function sentenceFor(status: number): string {
  if (status === 0) return "The server did not answer. Check the connection.";
  return `The server answered ${status}.`;
}

export async function errorOf(response: Response): Promise<ApiError> {
  let body: Partial<ErrorBody> = {};
  try {
    body = (await response.json()) as Partial<ErrorBody>;
  } catch {
    // A proxy in between may answer with a page of its own.
  }
  const seconds = Number(response.headers.get("Retry-After") ?? NaN);
  const requestId = response.headers.get("X-Request-Id") ?? body.request_id ?? null;
  return new ApiError(response.status, body, requestId, Number.isFinite(seconds) ? seconds : null);
}
