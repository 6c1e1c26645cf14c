// Text of others. It is shown as text nodes, and cannot pretend to be something else.
import type { ComponentChildren } from "preact";
import { visible } from "./visible";

const LINK = /\bhttps?:\/\/[^\s<>"'`\\]+[^\s<>"'`\\.,;:!?)\]}]/g;

export interface Piece {
  text: string;
  href: string | null;
}

/** Of a text that is nothing but addresses, the first ones are links. */
const MOST_LINKS = 500;

/** Takes a text apart at its http and https addresses. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let end = 0;
  let links = 0;
  for (const match of text.matchAll(LINK)) {
    if (links++ === MOST_LINKS) break;
    if (match.index > end) found.push({ text: text.slice(end, match.index), href: null });
    found.push({ text: match[0], href: match[0] });
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push({ text: text.slice(end), href: null });
  return found;
}

/** A text of somebody else, with links where it names addresses. */
export function Text({ children }: { children: string }): ComponentChildren {
  return pieces(visible(children)).map(({ text, href }) =>
    href ? (
      <a class="link" href={href} target="_blank" rel="noopener noreferrer">
        {text}
      </a>
    ) : (
      text
    ),
  );
}
