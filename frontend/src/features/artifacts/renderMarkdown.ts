// Renders Markdown to HTML within fixed limits; a text past them is shown as source. The HTML must be sanitised before
// it is shown.

import MarkdownIt, { type MarkdownIt as Parser, type Token } from "markdown-it";

import { bytes, count } from "../../lib/text/format.ts";

/** Longer texts, in characters, are not rendered. */
const LONGEST = 200_000;
/** Quotes and lists nested deeper than this, as the parser counts them; it leaves out what lies deeper. */
const DEEPEST = 60;
/** Elements a browser lays out without a noticeable delay. */
const MOST_ELEMENTS = 30_000;
/** A link defined once and used often makes a small text a large page. */
const MOST_CHARACTERS = 5 * LONGEST;
/** Raw HTML tags: when nested, even few of them are slow. */
const MOST_TAGS = 2000;
/** A browser repeats every unclosed `<b>` in each following element, so the product counts. */
const MOST_REPEATED = 200_000;
const REPEATED = /<(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)\b/gi;
const TAG = /<[a-z]/gi;
/** What follows `www.` in an address; punctuation at its end is cut off. */
const REST_OF_ADDRESS = /[\w-]+(?:\.[\w-]+)+(?:[/?#][^\s<>"]*)?/y;

export interface RenderedMarkdown {
  /** Null when the text cannot be rendered. */
  html: string | null;
  /** What differs from the author's intent, and why. */
  note: string | null;
}

const withHtml = parser(true);
const withoutHtml = parser(false);

export function renderMarkdown(text: string): RenderedMarkdown {
  if (text.length > LONGEST) return asWritten(`is longer than ${bytes(LONGEST)}`);
  const whole = made(withHtml, text);
  if (whole !== null) return whole;
  const { html, note } = made(withoutHtml, text) ?? asWritten("has too much HTML in it");
  return { html, note: note ?? "HTML in this text is shown as source: there is too much of it." };
}

/** Null when there is too much HTML in the text. */
function made(markdown: Parser, text: string): RenderedMarkdown | null {
  const env = {};
  const tokens = markdown.parse(text, env);
  const { depth, elements, characters, tags, repeated } = sizeOf(tokens);
  if (depth >= DEEPEST - 1) return asWritten("nests quotes or lists too deeply");
  if (tags > MOST_TAGS || repeated * elements > MOST_REPEATED) return null;
  if (elements > MOST_ELEMENTS || characters > MOST_CHARACTERS)
    return asWritten(`would fill the page with more than ${count(MOST_ELEMENTS, "element")}`);
  return { html: markdown.renderer.render(tokens, markdown.options, env), note: null };
}

function asWritten(why: string): RenderedMarkdown {
  return { html: null, note: `Shown as source, because it ${why}.` };
}

interface Size {
  depth: number;
  elements: number;
  characters: number;
  /** Raw HTML tags, and those of them that a browser repeats. */
  tags: number;
  repeated: number;
}

function sizeOf(tokens: readonly Token[]): Size {
  const size: Size = { depth: 0, elements: 0, characters: 0, tags: 0, repeated: 0 };
  for (const token of tokens) {
    // Inline markup nests too; past the limit it stays text, and nothing is lost.
    size.depth = Math.max(size.depth, token.level);
    for (const one of token.children === null ? [token] : [token, ...token.children]) {
      if (one.nesting === 1 || one.tag !== "") size.elements += 1;
      for (const [, value] of one.attrs ?? []) size.characters += String(value).length;
      if (one.type !== "html_block" && one.type !== "html_inline") continue;
      size.tags += occurrences(one.content, TAG);
      size.repeated += occurrences(one.content, REPEATED);
    }
  }
  size.elements += size.tags;
  return size;
}

function occurrences(text: string, sign: RegExp): number {
  return [...text.matchAll(sign)].length;
}

function parser(html: boolean): Parser {
  const markdown = new MarkdownIt({ html, linkify: true, maxNesting: DEEPEST });
  // `notes.md` is not a URL, although .md is a top-level domain.
  markdown.linkify.set({ fuzzyLink: false });
  markdown.linkify.add("www.", {
    validate: (text, at) => {
      REST_OF_ADDRESS.lastIndex = at;
      return REST_OF_ADDRESS.exec(text)?.[0].replace(/[.,:;!?'"*_)\]]+$/, "").length ?? 0;
    },
    normalize: (match) => {
      match.url = `https://${match.url}`;
    },
  });
  // A remote picture would tell its server who reads: only its description stays.
  markdown.renderer.rules.image = (tokens, at, options, env, self) => {
    const described = self.renderInlineAsText(tokens[at]?.children ?? [], options, env);
    return markdown.utils.escapeHtml(described === "" ? "(picture)" : `(picture: ${described})`);
  };
  // Wide tables scroll, also by keyboard.
  markdown.renderer.rules.table_open = () => '<div tabindex="0"><table>\n';
  markdown.renderer.rules.table_close = () => "</table></div>\n";
  markdown.core.ruler.push("tasks", ({ tokens }) => {
    for (const [at, token] of tokens.entries()) {
      const [first] = token.children ?? [];
      if (first?.type !== "text" || tokens[at - 2]?.type !== "list_item_open") continue;
      first.content = first.content.replace(/^\[([ xX])\] /, (_, mark: string) => (mark === " " ? "☐ " : "☑ "));
    }
  });
  // Cells are aligned by a style attribute, and style attributes are removed.
  markdown.core.ruler.push("align", ({ tokens }) => {
    for (const token of tokens) {
      if (token.type !== "th_open" && token.type !== "td_open") continue;
      const side = /^text-align:(\w+)$/.exec(String(token.attrGet("style") ?? ""))?.[1];
      if (side !== undefined) token.attrs = [["align", side]];
    }
  });
  return markdown;
}
