import type { ComponentChildren } from "preact";
import { type Block, type Inline, parse } from "./markdown";
import { Text } from "./text";

/**
 * A text in Markdown. Only elements of ours: no HTML and no images. With `org`, an answer of the assistant, links lead
 * to pages of that organization only; without, a text of somebody else, they are those of `Text`.
 */
export function Markdown({ text, org }: { text: string; org?: string }): ComponentChildren {
  return parse(text, org === undefined ? null : `/o/${encodeURIComponent(org)}/`).map((block) =>
    blockOf(block, org === undefined),
  );
}

function blockOf(block: Block, links: boolean) {
  const inlines = (parts: readonly Inline[]) => inlinesOf(parts, links);
  switch (block.tag) {
    case "pre":
      return <pre class="mono md-code">{links ? <Text>{block.text}</Text> : block.text}</pre>;
    case "table":
      return (
        <table class="md-table">
          <thead>
            <tr>
              {block.head.map((cell) => (
                <th scope="col">{inlines(cell)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {block.rows.map((row) => (
              <tr>
                {row.map((cell) => (
                  <td>{inlines(cell)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      );
    case "ul":
    case "ol": {
      const List = block.tag;
      return (
        <List>
          {block.items.map((item) => (
            <li>{inlines(item)}</li>
          ))}
        </List>
      );
    }
    default: {
      const Tag = block.tag;
      return <Tag>{inlines(block.of)}</Tag>;
    }
  }
}

function inlinesOf(parts: readonly Inline[], links: boolean): ComponentChildren {
  return parts.map((part) => {
    if (typeof part === "string") return links ? <Text>{part}</Text> : part;
    if ("unverified" in part)
      return (
        <span class="md-unverified" title="No tool returned this number.">
          (unverified)
        </span>
      );
    if ("href" in part)
      return (
        <a class="link" href={part.href}>
          {inlinesOf(part.of, false)}
        </a>
      );
    const Tag = part.tag;
    return <Tag>{inlinesOf(part.of, links && part.tag !== "code")}</Tag>;
  });
}
