// The look of the editor: the tokens of the UI, in CodeMirror's own sheet.
import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export const highlighting = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--cat-4)" },
  { tag: tags.function(tags.variableName), color: "var(--cat-1)" },
  { tag: [tags.string, tags.number, tags.bool, tags.null], color: "var(--cat-3)" },
  { tag: tags.special(tags.variableName), color: "var(--cat-2)" },
  { tag: tags.comment, color: "var(--text-3)" },
]);

export const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--panel)", fontSize: "13px", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "21px" },
  ".cm-content": { padding: "var(--s-2) 0", caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--text-3)", border: "none", paddingLeft: "var(--s-3)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--seq-2)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selected)", color: "inherit" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line)",
    borderRadius: "var(--r-3)",
    boxShadow: "var(--shadow)",
    padding: "var(--s-1)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--mono)",
    fontSize: "12px",
    maxHeight: "220px",
    minWidth: "260px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": {
    display: "flex",
    gap: "var(--s-5)",
    padding: "3px var(--s-2)",
    borderRadius: "var(--r-1)",
    lineHeight: "18px",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--selected)", color: "var(--accent)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
  ".cm-completionDetail": { marginLeft: "auto", fontStyle: "normal", color: "var(--text-3)" },
});
