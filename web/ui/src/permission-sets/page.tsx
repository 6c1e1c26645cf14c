import { useState } from "preact/hooks";
import { can } from "../api/session";
import type { SetRow } from "../api/types";
import { useLoad } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Failed } from "../kit/data/states";
import { Combobox } from "../kit/form/combobox";
import { byNoun, FOR_PEOPLE } from "../kit/form/permission-names";
import { Icon } from "../kit/icon";
import { RowActions } from "../kit/list/row-actions";
import { ViewToolbar } from "../kit/list/toolbar";
import { useNarrow } from "../kit/media";
import { announce } from "../kit/overlay/announce";
import { confirm } from "../kit/overlay/dialog";
import { Page, type PageProps } from "../kit/page";
import { plural } from "../kit/text/formats";
import { deleteSet, readSets } from "./api";
import { SetDialog } from "./dialog";

/** The page "Permission sets": a matrix of permissions and sets. */
export default function PermissionSetsPage({ org }: PageProps) {
  const [edited, setEdited] = useState<SetRow | "new" | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const load = useLoad(`sets ${org}`, readSets);
  const mayWrite = can("settings:write");
  const remove = async ({ name, user_count }: SetRow) => {
    const text = user_count
      ? `${plural(user_count, "member")} hold it: give them another one first.`
      : "No member holds it.";
    if (!(await confirm({ title: `Delete ${name}?`, verb: "Delete", text }))) return;
    try {
      await deleteSet(name);
      setProblem(null);
      announce(`${name} is deleted`);
    } catch (error) {
      setProblem(error);
    }
    load.reload();
  };
  const head = (
    <>
      <ViewToolbar curl={() => ({ route: "GET /permission-sets" })} onRefresh={load.reload} />
      {mayWrite && (
        <button type="button" class="button primary" onClick={() => setEdited("new")}>
          New permission set
        </button>
      )}
    </>
  );
  return (
    <Page title="Permission sets" actions={head}>
      {problem !== null && <Failed error={problem} />}
      <Loaded load={load}>
        {(sets) => <Matrix sets={sets} mayWrite={mayWrite} onEdit={setEdited} onDelete={(set) => void remove(set)} />}
      </Loaded>
      {edited && (
        <SetDialog set={edited === "new" ? null : edited} onClose={() => setEdited(null)} onDone={load.reload} />
      )}
    </Page>
  );
}

interface MatrixProps {
  sets: readonly SetRow[];
  mayWrite: boolean;
  onEdit: (set: SetRow) => void;
  onDelete: (set: SetRow) => void;
}

function Matrix({ sets, mayWrite, onEdit, onDelete }: MatrixProps) {
  const [one, setOne] = useState(sets[0]?.name);
  // Narrow screens have room for one set.
  const narrow = useNarrow();
  const chosen = sets.find(({ name }) => name === one) ?? sets[0];
  const shown = narrow && chosen ? [chosen] : sets;
  const actions = (set: SetRow) => [
    { label: "Edit", onClick: () => onEdit(set) },
    { label: "Delete", onClick: () => onDelete(set) },
  ];
  return (
    <div class="sets" tabIndex={0}>
      {narrow && chosen && (
        <div class="sets-choice">
          <Combobox
            label="Permission set"
            values={[chosen.name]}
            choices={sets.map(({ name }) => name)}
            onChange={([name]) => name && setOne(name)}
          />
        </div>
      )}
      <table aria-label="Permission sets" class="sets-matrix">
        <thead>
          <tr>
            <th scope="col">Permission</th>
            {shown.map((set) => (
              <th key={set.name} scope="col" title={set.description}>
                {set.name}
                <small>
                  {set.is_builtin ? "built in" : "own"} · {plural(set.user_count, "member")}
                </small>
                {mayWrite && !set.is_builtin && <RowActions name={set.name} actions={actions(set)} />}
              </th>
            ))}
          </tr>
        </thead>
        {byNoun(FOR_PEOPLE).map(({ noun, tokens }) => (
          <tbody key={noun}>
            {tokens.map((token) => (
              <tr key={token}>
                <th scope="row" class="mono">
                  {token}
                </th>
                {shown.map((set) => (
                  <td key={set.name}>
                    {set.permissions.includes(token) ? <Held /> : <span class="visually-hidden">no</span>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function Held() {
  return (
    <span class="ok">
      <Icon name="check" />
      <span class="visually-hidden">yes</span>
    </span>
  );
}
