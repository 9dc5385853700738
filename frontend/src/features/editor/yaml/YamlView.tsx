import {
  autocompletion,
  closeBrackets,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  insertCompletionText,
  startCompletion,
} from "@codemirror/autocomplete";
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
import { definitionSchema, type Knowledge, type Option, optionsAt } from "./completions.ts";
import { HIGHLIGHT, THEME } from "./yamlTheme.ts";

export interface Target {
  path: readonly (string | number)[];
  /** Instead of the path, in a text that cannot be read. */
  line?: number | null;
  /** Whether the text takes the focus, too. */
  focus: boolean;
}

interface Props {
  text: string;
  onChange: (text: string) => void;
  issues: readonly Issue[];
  /** Whether the issues belong to this text; otherwise their positions may be wrong. */
  fresh: boolean;
  suggestionsFor: (step: number) => readonly Suggestion[];
  knowledge: Omit<Knowledge, "schema">;
  /** Called when the cursor comes to rest in a step; -1 outside the steps. */
  onPlace: (step: number) => void;
  /** Where to go; a new object each time. */
  target: Target | null;
  readOnly: boolean;
}

const FROM_OUTSIDE = Annotation.define<boolean>();
/** How long the cursor rests before its step is looked up, which reads the whole text. */
const REST_MS = 150;

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
  knowledge,
  onPlace,
  target,
  readOnly,
}: Props): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useLatest({ onChange, suggestionsFor, knowledge, onPlace });
  const first = useRef({ text, readOnly });

  useEffect(() => {
    const place = host.current;
    if (place === null) return undefined;
    const root = place.shadowRoot ?? place.attachShadow({ mode: "open" });
    const ofReferences = (context: CompletionContext): CompletionResult | null =>
      completions(context, latest.current.suggestionsFor);
    const ofWords = (context: CompletionContext): Promise<CompletionResult | null> =>
      keysAndValues(context, { ...latest.current.knowledge, schema: definitionSchema });
    let resting: ReturnType<typeof setTimeout> | undefined;
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current.text,
        extensions: [
          lineNumbers(),
          foldGutter({ openText: "▾", closedText: "▸" }),
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
            override: [ofReferences, ofWords],
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
            if (!update.selectionSet && !update.docChanged) return;
            clearTimeout(resting);
            resting = setTimeout(() => {
              const { doc, selection } = made.state;
              latest.current.onPlace(stepAt(doc.toString(), selection.main.head));
            }, REST_MS);
          }),
        ],
      }),
    });
    view.current = made;
    return () => {
      clearTimeout(resting);
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
    const shown = now.state.doc.toString();
    const [from, to] = target.line == null ? rangeOf(shown, target.path) : lineRange(shown, target.line);
    now.dispatch({ selection: { anchor: from, head: to }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    if (target.focus) now.focus();
  }, [target]);

  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- the editor inside takes the keys
    <div
      ref={host}
      // CodeMirror would draw it inside, where its gutter covers it.
      className="overflow-hidden rounded border border-control outline-offset-2 outline-accent focus-within:outline-2"
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
  const [from, to] = issue.line === null ? rangeOf(text, issue.path) : lineRange(text, issue.line);
  return {
    from: Math.min(from, text.length),
    to: Math.min(to, text.length),
    severity: issue.severity === "ERROR" ? "error" : "warning",
    message: issue.hint === null ? issue.message : `${issue.message} ${issue.hint}`,
  };
}

function lineRange(text: string, line: number): [number, number] {
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

async function keysAndValues(context: CompletionContext, knowledge: Knowledge): Promise<CompletionResult | null> {
  const { doc } = context.state;
  const line = doc.lineAt(context.pos);
  // Not within a reference.
  if (typedAt(line.text, context.pos - line.from) !== null) return null;
  const found = await optionsAt(doc.toString(), context.pos, knowledge).catch(() => null);
  if (found === null || (found.from === context.pos && !context.explicit && !after(context))) return null;
  return { from: found.from, options: found.options.map(completion), validFor: /^[\w.-]*$/ };
}

/** Whether the cursor is right behind `key: `, where the value comes. */
function after(context: CompletionContext): boolean {
  return context.matchBefore(/:\s+/) !== null;
}

function completion({ label, detail, info, text, isKey }: Option): Completion {
  return {
    label,
    detail,
    ...(info === "" ? {} : { info }),
    apply: (view, _, from, to) => {
      view.dispatch(insertCompletionText(view.state, text, from, to));
      if (isKey) startCompletion(view);
    },
  };
}
