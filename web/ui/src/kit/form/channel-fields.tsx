import { request } from "../../api/request";
import { can } from "../../api/session";
import { useLoad } from "../data/load";
import { CHANNELS, type ChannelDraft, settingFields } from "./channels";
import { SelectField } from "./fields";
import type { Form } from "./form";
import { PickGroup } from "./pick-group";

/** The addresses of members, for those who may see them. */
export async function readAddresses(): Promise<string[]> {
  return (await request("GET /alerts/recipients", {})).map(({ email }) => email);
}

/** Who gets to know: the group "Channels", the recipients of mail, and the settings that hold the addresses. */
export function ChannelFields<V extends ChannelDraft>({ form }: { form: Form<V> }) {
  const { channels, recipients } = form.values;
  const settings = useLoad(can("settings:read") ? "channel settings" : null, (options) =>
    request("GET /settings/schema", {}, options),
  ).data?.settings;
  return (
    <>
      <PickGroup
        label="Channels"
        field="channels"
        options={CHANNELS}
        chosen={channels}
        errors={form.errors["channels"]}
        hint="The settings hold the addresses of Slack and of the webhook."
        onChange={(next) => form.set("channels", next as V["channels"])}
      />
      {channels.includes("email") && (
        <SelectField
          form={form}
          name="recipients"
          field={`channels.${channels.indexOf("email")}.recipients`}
          label="Recipients"
          choices={readAddresses}
          several
          typed
          placeholder={recipients.length ? "one more" : "those of the settings"}
        />
      )}
      {settingFields(form.values, settings ?? []).map(({ name, field, label, choices }) => (
        <SelectField
          key={name}
          form={form}
          name={name}
          field={field}
          label={label}
          choices={choices}
          placeholder="the default of the settings"
        />
      ))}
    </>
  );
}
