// The channels of alerts and audits, as their forms hold them.

export const CHANNELS = ["dashboard", "email", "slack", "webhook"] as const;

type Channel = Record<string, unknown>;

export interface ChannelDraft {
  /** Kinds of channels. */
  channels: string[];
  recipients: string[];
  /** The channels as they are stored: what the form does not show must not be lost. */
  stored: readonly Channel[];
}

/** The form's values for stored channels. */
export function channelDraft(stored: readonly Channel[]): ChannelDraft {
  const mail = stored.find(({ kind }) => kind === "email")?.["recipients"];
  return { channels: [...new Set(stored.map(({ kind }) => `${kind as string}`))], recipients: Array.isArray(mail) ? (mail as string[]) : [], stored };
}

/** The channels that a draft means. Chosen ones keep what is stored of them, such as their settings. */
export function channelsOf({ channels, recipients, stored }: ChannelDraft): Channel[] {
  return channels.flatMap((kind) => {
    const before = stored.filter((one) => one["kind"] === kind);
    if (kind !== "email") return before.length ? before : [{ kind }];
    const [first, ...others] = before;
    const { recipients: _, ...rest } = first ?? {};
    return [{ ...rest, kind, ...(recipients.length ? { recipients } : {}) }, ...others];
  });
}
