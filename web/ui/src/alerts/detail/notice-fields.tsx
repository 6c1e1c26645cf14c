import { ChannelFields } from "../../kit/form/channel-fields";
import { CheckField, RadioField, TextField } from "../../kit/form/fields";
import type { Form } from "../../kit/form/form";
import type { Draft } from "../model";

const SEVERITIES = ["info", "warning", "critical"].map((value) => ({ value, label: value }));

/** What happens with a breach: how bad it is, and who gets to know. */
export function NoticeFields({ form }: { form: Form<Draft> }) {
  return (
    <div class="alert-part">
      <RadioField form={form} name="severity" label="Severity" options={SEVERITIES} />
      <ChannelFields form={form} />
      <TextField form={form} name="description" label="Description" rows={2} placeholder="What to do when it fires" />
      <CheckField form={form} name="enabled" label="Enabled" />
    </div>
  );
}
