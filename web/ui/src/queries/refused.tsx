import { ApiError } from "../api/errors";
import { Failed } from "../kit/data/states";
import { Text } from "../kit/text/text";
import { lineAndColumn, type Place, placeOf, reasonOf } from "./model";

interface Props {
  sql: string;
  error: unknown;
  onPlace: (place: Place) => void;
}

/** Why a statement did not run, and the way to the place in it. */
export function Refused({ sql, error, onPlace }: Props) {
  if (!(error instanceof ApiError) || error.requiredPermission) return <Failed error={error} />;
  const reason = reasonOf(error);
  const place = placeOf(sql, reason);
  const sentence = error.message.startsWith("sql: ") ? "This statement is refused" : error.message;
  return (
    <section class="state state-error sql-refused" role="alert">
      <h2>{sentence[0]?.toUpperCase() + sentence.slice(1)}</h2>
      {reason !== error.message && (
        <p class="mono sql-reason">
          <Text>{reason}</Text>
        </p>
      )}
      {place && (
        <button type="button" class="button small" onClick={() => onPlace(place)}>
          Go to {lineAndColumn(sql, place.from)}
        </button>
      )}
      {error.requestId && <p class="mono dim">request {error.requestId}</p>}
    </section>
  );
}
