import { useState } from "preact/hooks";
import { can, session } from "../../api/session";
import type { ActivityRow, IncidentDetail } from "../../api/types";
import { Failed } from "../../kit/data/states";
import { TextField } from "../../kit/form/fields";
import { FormView, useForm } from "../../kit/form/form";
import { Icon } from "../../kit/icon";
import type { IconName } from "../../kit/icon-names";
import { announce } from "../../kit/overlay/announce";
import { confirm } from "../../kit/overlay/dialog";
import { Text } from "../../kit/text/text";
import { Moment } from "../../kit/text/values";
import { comment as addComment, deleteComment } from "../api";
import { activityText, type Entry, entries, SYSTEM } from "../model";

const ICONS: Record<ActivityRow["kind"], IconName> = {
  opened: "siren",
  acknowledged: "eye",
  assigned: "user",
  commented: "message-square",
  comment_deleted: "trash-2",
  subscribed: "mail",
  unsubscribed: "mail",
  breached: "refresh-cw",
  resolved: "check",
};

interface Props {
  incident: IncidentDetail;
  onChange: () => void;
}

/** The history of an incident with its comments, and the field for a new one. */
export function Activity({ incident, onChange }: Props) {
  const [problem, setProblem] = useState<unknown>(null);
  const remove = async (id: string) => {
    if (
      !(await confirm({ title: "Delete this comment?", verb: "Delete", text: "The history keeps that it was there." }))
    )
      return;
    try {
      await deleteComment(incident.id, id);
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
    onChange();
  };
  return (
    <section class="incident-activity">
      <h2 id="activity">Activity</h2>
      <ul aria-labelledby="activity" aria-label="Activity">
        {entries(incident).map((entry, index) => (
          <Item key={index} entry={entry} source={incident.source} onDelete={(id) => void remove(id)} />
        ))}
      </ul>
      {problem !== null && <Failed error={problem} />}
      {can("incidents:ack") && <NewComment incident={incident} onDone={onChange} />}
    </section>
  );
}

function Item({
  entry: { activity, comment },
  source,
  onDelete,
}: {
  entry: Entry;
  source: IncidentDetail["source"];
  onDelete: (id: string) => void;
}) {
  const mine = comment?.body !== null && comment?.author_email === session.value?.email;
  return (
    <li>
      <span class={activity.kind === "opened" ? "activity-icon err" : "activity-icon"}>
        <Icon name={ICONS[activity.kind]} class="small" />
      </span>
      <div>
        <p>
          {activity.actor !== SYSTEM && <strong>{activity.actor} </strong>}
          <Text>{activityText(activity, source)}</Text>
        </p>
        {comment &&
          (comment.body === null ? (
            <p class="dim">This comment was deleted.</p>
          ) : (
            <p class="comment">
              <Text>{comment.body}</Text>
            </p>
          ))}
        {comment && mine && can("incidents:ack") && (
          <button type="button" class="button small" onClick={() => onDelete(comment.id)}>
            Delete
          </button>
        )}
      </div>
      <Moment at={activity.at} />
    </li>
  );
}

function NewComment({ incident, onDone }: { incident: IncidentDetail; onDone: () => void }) {
  const form = useForm({ body: "" }, async ({ body }) => {
    await addComment(incident.id, body);
    announce("The comment is added");
  });
  const done = () => {
    form.reset({ body: "" });
    onDone();
  };
  return (
    <FormView form={form} onDone={done}>
      <TextField
        form={form}
        name="body"
        label="Comment"
        rows={3}
        placeholder="What do you know that the others do not?"
      />
      <div>
        <button type="submit" class="button">
          Add comment
        </button>
      </div>
    </FormView>
  );
}
