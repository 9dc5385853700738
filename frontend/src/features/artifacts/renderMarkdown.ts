// Markdown as HTML, within bounds that no text can push: what goes past them is told apart, for the text to be shown as
// it is written. Nothing here is safe to show before it is sanitised.

import MarkdownIt, { type MarkdownIt as Parser, type Token } from "markdown-it";

import { bytes, count } from "../../lib/text/format.ts";

/** Longer texts, in characters, are not set out. */
const LONGEST = 200_000;
/** Quotes and lists nested deeper than this, as the parser counts them; it leaves out what lies deeper. */
const DEEPEST = 60;
/** Elements that a browser lays out while nobody notices. */
const MOST_ELEMENTS = 30_000;
/** An address that is defined once and used everywhere makes a small text a large page. */
const MOST_CHARACTERS = 5 * LONGEST;
/** Tags of the text's own: nested, they take a browser long however few they are. */
const MOST_TAGS = 2000;
/** A browser repeats every `<b>` that nobody closed in each element that follows, so what counts is the product. */
const MOST_REPEATED = 200_000;
const REPEATED = /<(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)\b/gi;
const TAG = /<[a-z]/gi;
/** What follows `www.` in an address; punctuation at its end is cut off. */
const REST_OF_ADDRESS = /[\w-]+(?:\.[\w-]+)+(?:[/?#][^\s<>"]*)?/y;

export interface RenderedMarkdown {
  /** Null when the text cannot be set out. */
  html: string | null;
  /** What is not as its author meant it, and why. */
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
  /** Of the text's own, and those of them that a browser repeats. */
  tags: number;
  repeated: number;
}

function sizeOf(tokens: readonly Token[]): Size {
  const size: Size = { depth: 0, elements: 0, characters: 0, tags: 0, repeated: 0 };
  for (const token of tokens) {
    // Parts of a line nest as well; those past the bound stay text there, and nothing is lost.
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
  // `notes.md` is no address, though Moldova has the ending.
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
  // A picture from elsewhere would tell its server who reads: its description stays.
  markdown.renderer.rules.image = (tokens, at, options, env, self) => {
    const described = self.renderInlineAsText(tokens[at]?.children ?? [], options, env);
    return markdown.utils.escapeHtml(described === "" ? "(picture)" : `(picture: ${described})`);
  };
  // Wide tables scroll by themselves, also by keyboard.
  markdown.renderer.rules.table_open = () => '<div tabindex="0"><table>\n';
  markdown.renderer.rules.table_close = () => "</table></div>\n";
  markdown.core.ruler.push("tasks", ({ tokens }) => {
    for (const [at, token] of tokens.entries()) {
      const [first] = token.children ?? [];
      if (first?.type !== "text" || tokens[at - 2]?.type !== "list_item_open") continue;
      first.content = first.content.replace(/^\[([ xX])\] /, (_, mark: string) => (mark === " " ? "☐ " : "☑ "));
    }
  });
  // A style of its own says which way a cell is aligned, and styles are dropped.
  markdown.core.ruler.push("align", ({ tokens }) => {
    for (const token of tokens) {
      if (token.type !== "th_open" && token.type !== "td_open") continue;
      const side = /^text-align:(\w+)$/.exec(String(token.attrGet("style") ?? ""))?.[1];
      if (side !== undefined) token.attrs = [["align", side]];
    }
  });
  return markdown;
}
