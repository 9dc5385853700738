import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// The page's own colours, which follow its theme; CodeMirror's are too pale on a dark ground.
export const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace, tags.meta], color: "var(--soft)" },
  { tag: [tags.string, tags.content, tags.attributeValue, tags.literal, tags.keyword], color: "var(--ink)" },
]);

export const THEME = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--page)", fontSize: "13px" },
  // The page draws the ring, around the gutter too.
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    fontFamily: '"JetBrains Mono", ui-monospace, "SF Mono", Menlo, Consolas, monospace',
    lineHeight: "20px",
    minHeight: "24rem",
    maxHeight: "calc(100vh - 19rem)",
  },
  ".cm-content": { caretColor: "var(--ink)", paddingBlock: "8px" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": {
    backgroundColor: "var(--panel)",
    color: "var(--soft)",
    border: "none",
    borderRight: "1px solid var(--line)",
  },
  ".cm-foldGutter .cm-gutterElement": { width: "16px", textAlign: "center", cursor: "pointer" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--hover) 60%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 26%, transparent)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--hover)",
    outline: "1px solid var(--control)",
  },
  ".cm-reference": { backgroundColor: "var(--accent-tint)", borderRadius: "3px" },
  ".cm-tooltip": {
    backgroundColor: "var(--page)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    boxShadow: "var(--float)",
    fontFamily: "Inter, system-ui, sans-serif",
    fontSize: "13px",
  },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "inherit", maxHeight: "18rem" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "4px 10px", lineHeight: "20px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent-tint)", color: "var(--ink)" },
  // The words that say what an option is give way to its name.
  "& .cm-tooltip-autocomplete > ul > li": { display: "flex", alignItems: "baseline" },
  ".cm-completionLabel": { fontFamily: '"JetBrains Mono", ui-monospace, monospace' },
  ".cm-completionDetail": {
    color: "var(--soft)",
    fontStyle: "normal",
    marginLeft: "12px",
    flexShrink: "1",
    overflow: "hidden",
    textOverflow: "ellipsis",
  },
  ".cm-completionInfo": {
    boxSizing: "border-box",
    padding: "6px 10px",
    maxWidth: "20rem",
    maxHeight: "14rem",
    overflow: "hidden auto",
    whiteSpace: "pre-wrap",
    overflowWrap: "anywhere",
    color: "var(--soft)",
  },
  ".cm-diagnostic": { padding: "6px 10px", borderLeftWidth: "3px", overflowWrap: "anywhere" },
  ".cm-tooltip-lint, .cm-tooltip-hover": { maxWidth: "min(36rem, 90vw)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--fail)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--fail)",
    textUnderlineOffset: "3px",
  },
  ".cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--warn)",
    textUnderlineOffset: "3px",
  },
  ".cm-foldPlaceholder": { backgroundColor: "var(--hover)", color: "var(--soft)", border: "none" },
});
