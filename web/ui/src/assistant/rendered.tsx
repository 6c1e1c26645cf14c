import type { ComponentChildren } from "preact";
import { parse, type Block, type Inline } from "./markdown";

/** An answer of the model. Only elements of ours: no HTML, images or links to other places. */
export function Markdown({ text, org }: { text: string; org: string }): ComponentChildren {
  return parse(text, `/o/${encodeURIComponent(org)}/`).map(blockOf);
}

function blockOf(block: Block) {
  switch (block.tag) {
    case "pre":
      return <pre class="mono assistant-code">{block.text}</pre>;
    case "table":
      return (
        <table class="assistant-table">
          <thead>
            <tr>{block.head.map((cell) => <th scope="col">{inlines(cell)}</th>)}</tr>
          </thead>
          <tbody>
            {block.rows.map((row) => (
              <tr>{row.map((cell) => <td>{inlines(cell)}</td>)}</tr>
            ))}
          </tbody>
        </table>
      );
    case "ul":
    case "ol": {
      const List = block.tag;
      return <List>{block.items.map((item) => <li>{inlines(item)}</li>)}</List>;
    }
    default: {
      const Tag = block.tag;
      return <Tag>{inlines(block.of)}</Tag>;
    }
  }
}

function inlines(parts: readonly Inline[]): ComponentChildren {
  return parts.map((part) => {
    if (typeof part === "string") return part;
    if ("unverified" in part)
      return (
        <span class="assistant-unverified" title="No tool returned this number.">
          (unverified)
        </span>
      );
    if ("href" in part)
      return (
        <a class="link" href={part.href}>
          {inlines(part.of)}
        </a>
      );
    const Tag = part.tag;
    return <Tag>{inlines(part.of)}</Tag>;
  });
}
