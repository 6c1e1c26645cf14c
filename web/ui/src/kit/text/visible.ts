// Characters that nobody would see, in texts of others.
import { options } from "preact";

// Control characters; those that reorder; those without width; fillers; tags, and the selectors beyond emoji.
const HIDDEN_CHARS =
  "\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c" +
  "\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164" +
  "\\ufe00-\\ufe0d\\ufeff\\uffa0\\ufff0-\\ufffb\\u{e0000}-\\u{e0fff}";
// Emoji and some scripts need joiners between their characters, and emoji a selector. Elsewhere they only hide.
const JOINED =
  "\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\p{M}\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Mongolian}";
export const HIDDEN = new RegExp(
  `[${HIDDEN_CHARS}]|(?<![${JOINED}])[\\u200c\\u200d]|(?<!\\p{Emoji})[\\ufe0e\\ufe0f]`,
  "gu",
);

/** Writes characters out that nobody would see: "⟨U+202E⟩". */
export function visible(text: string): string {
  return text.replace(HIDDEN, (found) => `⟨U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

// Attributes that people read or hear. The value of a field stays as it is, since it is sent back.
const READ = ["title", "aria-label", "placeholder", "alt"];

// Preact's types leave out the nodes that it makes of texts.
type AnyNode = { type: unknown; props: unknown };

function show(node: AnyNode): void {
  const { type, props } = node;
  // Preact makes a node without a type of each text.
  if (type === null) {
    if (typeof props === "string") node.props = visible(props);
    return;
  }
  if (typeof type !== "string") return;
  const attributes = props as Record<string, unknown>;
  for (const name of READ) {
    const text = attributes[name];
    if (typeof text === "string") attributes[name] = visible(text);
  }
}

/** Makes every text of every page visible. Called once, before the first render. */
export function startVisible(): void {
  const before = options.vnode;
  options.vnode = (node) => {
    show(node as AnyNode);
    before?.(node);
  };
}
