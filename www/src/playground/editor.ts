// The editor: CodeMirror in a shadow tree, where it brings its styles as style sheets that the page's policy allows.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting, syntaxTree } from "@codemirror/language";
import { linter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Position } from "./calls";
import type { Language } from "./examples";

const theme = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--ink)", border: "1px solid var(--edge)", borderRadius: "0.4rem", fontSize: "0.9rem" },
  ".cm-content": { fontFamily: "var(--mono)", caretColor: "var(--ink)", minHeight: "16rem" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--soft)", border: "0" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused": { outline: "2px solid var(--gpu)" },
  // In place of pictures in data URLs, which the page's policy does not allow.
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { backgroundColor: "var(--track)" },
});

/** Colours of the page, which suit both themes. */
const highlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--gpu)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--cpu)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--good)" },
  { tag: tags.comment, color: "var(--soft)" },
]);

/** Marks the places that the parser of JavaScript does not understand. */
const syntax = linter((view) => {
  const found: Diagnostic[] = [];
  syntaxTree(view.state).cursor().iterate((node) => {
    if (node.type.isError) found.push({ from: node.from, to: Math.max(node.to, node.from), severity: "error", message: "Syntax error" });
  });
  return found.slice(0, 1);
});

export interface Editor {
  text(): string;
  replace(text: string, language: Language | "cuda"): void;
  /** Marks an error at its line, or removes the mark. */
  mark(error: { message: string; position: Position | null } | null): void;
}

export interface EditorOptions {
  /** Name of the editor for screen readers. Default `"Program"`. */
  label?: string;
  /** Called after each change of the text. */
  changed?: () => void;
}

/** Creates an editor in `at`; `run` is called for Control-Enter. */
export function createEditor(at: HTMLElement, run: () => void, { label = "Program", changed }: EditorOptions = {}): Editor {
  const root = at.attachShadow({ mode: "open" });
  const language = new Compartment();
  const runKey = { key: "Mod-Enter", run: () => (run(), true) };
  const state = EditorState.create({
    extensions: [
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      highlightActiveLine(),
      syntaxHighlighting(highlight),
      keymap.of([runKey, ...defaultKeymap, ...historyKeymap, indentWithTab]),
      language.of([]),
      theme,
      EditorView.contentAttributes.of({ "aria-label": `${label}. Escape, then Tab leaves the editor.` }),
      EditorView.updateListener.of(({ docChanged }) => docChanged && changed?.()),
    ],
  });
  const view = new EditorView({ state, parent: root, root });
  // Scrollable areas must be focusable for keyboard users.
  view.scrollDOM.tabIndex = 0;
  return {
    text: () => view.state.doc.toString(),
    replace(text, name) {
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        effects: language.reconfigure(name === "javascript" ? [javascript(), syntax] : []),
      });
    },
    mark(error) {
      const { doc } = view.state;
      const at = error?.position;
      const line = at ? doc.line(Math.max(1, Math.min(at.line, doc.lines))) : null;
      const marks: Diagnostic[] = error && line ? [{ from: line.from, to: line.to, severity: "error", message: error.message }] : [];
      view.dispatch(setDiagnostics(view.state, marks));
    },
  };
}
