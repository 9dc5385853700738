import { autocompletion, closeBrackets, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { Annotation, Compartment, EditorState } from "@codemirror/state";
import {
  Decoration,
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  MatchDecorator,
  ViewPlugin,
} from "@codemirror/view";
import { type ReactNode, useEffect, useRef } from "react";

import { useLatest } from "../../../lib/hooks/useLatest.ts";
import { rangeOf, stepAt } from "../definition/definition.ts";
import { fitting, type Suggestion } from "../definition/suggestions.ts";
import { typedAt } from "../definition/templates.ts";
import { typeOver } from "./typeOver.ts";
import type { Issue } from "../definition/useCheck.ts";
import { HIGHLIGHT, THEME } from "./yamlTheme.ts";

interface Props {
  text: string;
  onChange: (text: string) => void;
  issues: readonly Issue[];
  /** Whether the issues belong to this text; otherwise their positions may be wrong. */
  fresh: boolean;
  suggestionsFor: (step: number) => readonly Suggestion[];
  /** Where to go; a new object each time. */
  target: { path: readonly (string | number)[] } | null;
  readOnly: boolean;
}

const FROM_OUTSIDE = Annotation.define<boolean>();

const references = new MatchDecorator({
  regexp: /(?<!\$)\$\{\{[^}]*\}\}/g,
  decoration: Decoration.mark({ class: "cm-reference" }),
});
const markReferences = ViewPlugin.define(
  (view) => ({
    decorations: references.createDeco(view),
    update(change) {
      this.decorations = references.updateDeco(change, this.decorations);
    },
  }),
  { decorations: (plugin) => plugin.decorations },
);

/**
 * The definition as text. CodeMirror lives in a shadow root: there its styles are sheets of the script's own, which the
 * page's content policy allows, and no style element, which it does not.
 */
export default function YamlView({
  text,
  onChange,
  issues,
  fresh,
  suggestionsFor,
  target,
  readOnly,
}: Props): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useLatest({ onChange, suggestionsFor });
  const first = useRef({ text, readOnly });

  useEffect(() => {
    const place = host.current;
    if (place === null) return undefined;
    const root = place.shadowRoot ?? place.attachShadow({ mode: "open" });
    const complete = (context: CompletionContext): CompletionResult | null =>
      completions(context, latest.current.suggestionsFor);
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current.text,
        extensions: [
          lineNumbers(),
          foldGutter(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          bracketMatching(),
          closeBrackets(),
          typeOver,
          indentOnInput(),
          indentUnit.of("  "),
          lintGutter(),
          EditorView.lineWrapping,
          yaml(),
          syntaxHighlighting(HIGHLIGHT),
          THEME,
          markReferences,
          autocompletion({
            override: [complete],
            icons: false,
            interactionDelay: 0,
            tooltipClass: () => "cm-suggestions",
          }),
          keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
          // It takes focus anyway; said so that tools which judge scrolling boxes see it.
          EditorView.contentAttributes.of({ "aria-label": "Definition as YAML", spellcheck: "false", tabindex: "0" }),
          reading.of(EditorState.readOnly.of(first.current.readOnly)),
          EditorView.updateListener.of((update) => {
            if (
              update.docChanged &&
              !update.transactions.some((transaction) => transaction.annotation(FROM_OUTSIDE) === true)
            )
              latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => {
      view.current = null;
      made.destroy();
    };
  }, [latest]);

  useEffect(() => {
    const now = view.current;
    if (now === null || now.state.doc.toString() === text) return;
    now.dispatch({ changes: { from: 0, to: now.state.doc.length, insert: text }, annotations: FROM_OUTSIDE.of(true) });
  }, [text]);

  useEffect(() => {
    view.current?.dispatch({ effects: reading.reconfigure(EditorState.readOnly.of(readOnly)) });
  }, [readOnly]);

  useEffect(() => {
    const now = view.current;
    if (now === null || !fresh) return;
    now.dispatch(
      setDiagnostics(
        now.state,
        issues.map((issue) => diagnostic(now.state.doc.toString(), issue)),
      ),
    );
  }, [issues, fresh]);

  useEffect(() => {
    const now = view.current;
    if (now === null || target === null) return;
    const [from, to] = rangeOf(now.state.doc.toString(), target.path);
    now.dispatch({ selection: { anchor: from, head: to }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    now.focus();
  }, [target]);

  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- the editor inside takes the keys
    <div
      ref={host}
      className="overflow-hidden rounded border border-control"
      // From outside, keys typed in here seem to come from a plain box; the page's single-key commands must not see
      // them.
      onKeyDown={(event) => {
        if (!event.ctrlKey && !event.metaKey) event.nativeEvent.stopImmediatePropagation();
      }}
    />
  );
}

const reading = new Compartment();

function diagnostic(text: string, issue: Issue): Diagnostic {
  const [from, to] = issue.path.length === 0 ? lineIn(text, issue.message) : rangeOf(text, issue.path);
  return {
    from: Math.min(from, text.length),
    to: Math.min(to, text.length),
    severity: issue.severity === "ERROR" ? "error" : "warning",
    message: issue.hint === null ? issue.message : `${issue.message} ${issue.hint}`,
  };
}

/** A text that cannot be read names its line in words. */
function lineIn(text: string, message: string): [number, number] {
  const line = Number(/\(line (\d+)/.exec(message)?.[1] ?? 1);
  const lines = text.split("\n");
  const from = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return [from, from + Math.max(1, lines[line - 1]?.length ?? 1)];
}

function completions(context: CompletionContext, suggestionsAt: Props["suggestionsFor"]): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const typed = typedAt(line.text, context.pos - line.from);
  if (typed === null) return null;
  const suggestions = fitting(suggestionsAt(stepAt(context.state.doc.toString(), context.pos)), typed.typed);
  // The editor closes brackets while typing; the completion replaces them.
  const behind = /^\s*\}{0,2}/.exec(line.text.slice(context.pos - line.from))?.[0].length ?? 0;
  return {
    from: line.from + typed.from,
    to: Math.max(line.from + typed.to, context.pos + behind),
    filter: false,
    options: suggestions.map((suggestion) => ({
      label: suggestion.path,
      detail: suggestion.type,
      info: [suggestion.description, suggestion.example === "" ? "" : `Last time: ${suggestion.example}`]
        .filter((part) => part !== "")
        .join("\n"),
      apply: suggestion.text,
    })),
  };
}
