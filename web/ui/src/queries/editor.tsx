import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import type { MutableRef } from "preact/hooks";
import { useEffect, useRef } from "preact/hooks";
import type { PublishedTables } from "../api/types";
import { HIDDEN } from "../kit/text/visible";
import { styleNonce } from "../kit/worker";
import { completer, language } from "./language";
import type { Place } from "./model";
import { highlighting, theme } from "./theme";

/** Lets the page work on the editor's text. */
export interface EditorHandle {
  /** Puts a text in place of the selection. */
  insert: (text: string) => void;
  focus: (place?: Place) => void;
}

interface Props {
  value: string;
  /** Counts the values that came from elsewhere. The editor takes over these, and no echo of what was typed in it. */
  revision: number;
  onChange: (value: string) => void;
  onRun: () => void;
  schema: PublishedTables | undefined;
  /** The place that the last error is about. */
  marked: Place | null;
  handle: MutableRef<EditorHandle | null>;
}

const setMark = StateEffect.define<Place | null>();
const mark = Decoration.mark({ class: "sql-mark" });
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    for (const effect of transaction.effects)
      if (effect.is(setMark))
        return effect.value ? Decoration.set([mark.range(effect.value.from, effect.value.to)]) : Decoration.none;
    return transaction.docChanged ? Decoration.none : shown;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/**
 * Puts typed text of several lines, or in place of a selection, into the document. Chromium would edit the page for it
 * with elements that have a style attribute, which the page's policy reports.
 */
const typing = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType, isComposing } = event;
    if (inputType !== "insertText" || data === null || isComposing || view.state.selection.ranges.length > 1)
      return false;
    const { from, to } = replaced(view);
    if (from === to && !data.includes("\n")) return false;
    const insert = () =>
      view.state.update({
        changes: { from, to, insert: view.state.toText(data) },
        selection: { anchor: from + data.length },
        userEvent: data.length > 1 ? "input.paste" : "input.type",
        scrollIntoView: true,
      });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
    event.preventDefault();
    return true;
  },
});

/** The part of the document that a text is typed over. The page's own selection may be newer than the editor's. */
function replaced(view: EditorView): Place {
  const { contentDOM, viewport, state } = view;
  const selection = document.getSelection();
  // The page holds only the lines in view.
  if (
    !selection?.rangeCount ||
    !contentDOM.contains(selection.anchorNode) ||
    viewport.from > 0 ||
    viewport.to < state.doc.length
  )
    return state.selection.main;
  const range = selection.getRangeAt(0);
  return {
    from: view.posAtDOM(range.startContainer, range.startOffset),
    to: view.posAtDOM(range.endContainer, range.endOffset),
  };
}

/** The textbox "SQL". Tab leaves it; Mod+Enter runs. */
export function Editor({ value, revision, onChange, onRun, schema, marked, handle }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const newest = useRef({ onChange, onRun, schema });
  newest.current = { onChange, onRun, schema };
  useEffect(() => {
    const run = () => {
      closeCompletion(editor);
      newest.current.onRun();
      return true;
    };
    const editor = new EditorView({
      parent: element.current!,
      state: EditorState.create({
        doc: value,
        extensions: [
          EditorView.cspNonce.of(styleNonce()),
          lineNumbers(),
          highlightSpecialChars({ specialChars: HIDDEN }),
          history(),
          drawSelection(),
          bracketMatching(),
          closeBrackets(),
          marks,
          language,
          syntaxHighlighting(highlighting),
          theme,
          typing,
          autocompletion({ override: [completer(() => newest.current.schema)], icons: false }),
          Prec.highest(keymap.of([{ key: "Mod-Enter", run }])),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
          EditorView.contentAttributes.of({ "aria-label": "SQL", "data-search": "", spellcheck: "false" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) newest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    handle.current = {
      insert: (text) => {
        editor.dispatch(editor.state.replaceSelection(text));
        editor.focus();
      },
      focus: (place) => {
        if (place) editor.dispatch({ selection: { anchor: place.from, head: place.to }, scrollIntoView: true });
        editor.focus();
      },
    };
    return () => {
      handle.current = null;
      editor.destroy();
    };
  }, []);
  useEffect(() => {
    const { state } = view.current!;
    if (revision) view.current!.dispatch({ changes: { from: 0, to: state.doc.length, insert: value } });
  }, [revision]);
  useEffect(() => {
    const length = view.current!.state.doc.length;
    view.current!.dispatch({ effects: setMark.of(marked && marked.to <= length ? marked : null) });
  }, [marked]);
  return <div ref={element} class="sql-editor" />;
}
