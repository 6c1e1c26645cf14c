// The channels of alerts and audits, as their forms hold them.
import type { Channel } from "../../api/types";
import type { FieldsOf } from "../data/fields-of";
import type { Choice } from "./choices";

type Fields = FieldsOf<Channel>;
type Kind = Channel["kind"];

const ALL: Record<Kind, true> = { dashboard: true, email: true, slack: true, webhook: true };
export const CHANNELS = Object.keys(ALL) as Kind[];

/** The members of channels that name a setting in place of the default one, and the kind of that setting. */
export const SETTING_KEYS = [
  { name: "webhook_setting_key", channel: "slack", kind: "url", label: "Slack address" },
  { name: "url_setting_key", channel: "webhook", kind: "url", label: "Webhook address" },
  { name: "secret_setting_key", channel: "webhook", kind: "secret", label: "Webhook secret" },
] as const satisfies readonly { name: SettingName; channel: Kind; kind: string; label: string }[];

type SettingName = Exclude<keyof Fields, "kind" | "recipients">;
type SettingKey = (typeof SETTING_KEYS)[number];

export interface ChannelDraft extends Record<SettingName, string> {
  /** Kinds of channels. */
  channels: Kind[];
  recipients: string[];
  /** The channels as they are stored: what the form does not show must not be lost. */
  stored: readonly Channel[];
}

/** The form's values for stored channels: of each kind those of the first one. */
export function channelDraft(stored: readonly Channel[]): ChannelDraft {
  const first = (kind: Kind): Fields => stored.find((one) => one.kind === kind) ?? {};
  const named = ({ channel, name }: SettingKey) => [name, first(channel)[name] ?? ""];
  return {
    channels: [...new Set(stored.map(({ kind }) => kind))],
    recipients: first("email").recipients ?? [],
    ...(Object.fromEntries(SETTING_KEYS.map(named)) as Record<SettingName, string>),
    stored,
  };
}

/** The channels that a draft means. Further ones of a kind stay as they are stored. */
export function channelsOf(draft: ChannelDraft): Channel[] {
  const { channels, recipients, stored } = draft;
  return channels.flatMap((kind) => {
    const [first = {}, ...others] = stored.filter((one) => one.kind === kind);
    const shown = SETTING_KEYS.filter(({ channel }) => channel === kind).map(
      ({ name }) => [name, draft[name]] as const,
    );
    const fields = Object.fromEntries(shown.filter(([, key]) => key));
    const left = Object.fromEntries(
      Object.entries(first).filter(([name]) => name !== "recipients" && shown.every(([key]) => key !== name)),
    );
    const named = kind === "email" && recipients.length ? { recipients } : {};
    return [{ ...left, kind, ...fields, ...named } as Channel, ...others];
  });
}

/** The selects for the chosen channels. A setting without another one of its kind, and not named yet, is no choice. */
export function settingFields(
  draft: ChannelDraft,
  settings: readonly { key: string; kind: string; title: string }[],
): (SettingKey & { field: string; choices: Choice[] })[] {
  const sent = channelsOf(draft);
  return SETTING_KEYS.flatMap((one) => {
    const place = sent.findIndex(({ kind }) => kind === one.channel);
    const choices = settings
      .filter(({ kind }) => kind === one.kind)
      .map(({ key, title }) => ({ value: key, label: title }));
    if (place < 0 || (choices.length < 2 && !draft[one.name])) return [];
    return [{ ...one, field: `channels.${place}.${one.name}`, choices }];
  });
}
