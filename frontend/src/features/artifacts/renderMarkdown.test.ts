import { describe, expect, test } from "vitest";

import { renderMarkdown } from "./renderMarkdown.ts";

const FULL = 200_000;
const filled = (part: string, length = FULL) => part.repeat(Math.floor(length / part.length));

test("what people write is set out: tables with their sides, addresses, HTML of their own", () => {
  const { html, note } = renderMarkdown(
    "# Tea\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n\nSee https://example.org/ and notes.md, ~~not~~ that.<br>\n\n<details>\n<summary>More</summary>\n\n- [x] one\n  - two\n\n</details>\n",
  );
  expect(note).toBeNull();
  expect(html).toContain("<h1>Tea</h1>");
  expect(html).toContain('<td align="right">2</td>');
  expect(html).toContain('<a href="https://example.org/">https://example.org/</a>');
  expect(html).toContain(" and notes.md, <s>not</s> that.<br>");
  expect(html).toContain("<summary>More</summary>");
  expect(html).toContain("☑ one");
});

test("addresses that begin with www. are links, file names and marks in the middle of a text are not", () => {
  const { html } = renderMarkdown(
    "See www.example.org/tea?x=1, (www.example.com) or main.py and www. alone.\n\n- [ ] open\n- a [x] b",
  );
  expect(html).toContain(
    '<a href="https://www.example.org/tea?x=1">www.example.org/tea?x=1</a>, (<a href="https://www.example.com">www.example.com</a>) or main.py and www. alone.',
  );
  expect(html).toContain("☐ open");
  expect(html).toContain("a [x] b");
});

test("quotes and lists may nest as deep as anybody writes them, and what is deeper is reported instead of left out", () => {
  const deepest = 28;
  for (const part of ["> ", "- ", "1. ", "* > "]) {
    const ten = renderMarkdown(`${part.repeat(10)}the end`);
    expect([part, ten.note, ten.html?.includes("the end")]).toEqual([part, null, true]);
    const found = renderMarkdown(`${part.repeat(deepest)}the end`);
    // Whatever the depth: either every word is there, or nothing is and it is said why.
    expect(found.html === null ? found.note : found.html).toMatch(
      found.html === null ? /nests quotes or lists too deeply/ : /the end/,
    );
    for (let depth = 11; depth < 80; depth += 1) {
      const { html } = renderMarkdown(`${part.repeat(depth)}the end`);
      if (html !== null) expect(html).toContain("the end");
    }
    expect(renderMarkdown(`${part.repeat(20_000)}the end`)).toEqual({
      html: null,
      note: "Shown as source, because it nests quotes or lists too deeply.",
    });
  }
});

test("a text that is too long is shown as it is written", () => {
  expect(renderMarkdown(filled("a ", FULL + 2))).toEqual({
    html: null,
    note: "Shown as source, because it is longer than 200 kB.",
  });
});

describe("no text takes long or grows large", () => {
  const hostile: Record<string, string> = {
    "quotes in quotes": filled("> "),
    "lists in lists": filled("- "),
    "lists by indentation": Array.from({ length: 600 }, (_, depth) => `${" ".repeat(depth)}- a`).join("\n"),
    "stars that open": filled("*a **b "),
    "stars that open and close": `${filled("*", FULL / 2)}a${filled("*", FULL / 2 - 1)}`,
    "brackets that open": filled("["),
    "brackets that close": `${filled("[", FULL / 2)}${filled("]", FULL / 2)}`,
    "pictures in pictures": `${filled("![", 60_000)}a${filled("](b)", 100_000)}`,
    "ticks of every length": Array.from({ length: 600 }, (_, length) => "`".repeat(length)).join(" "),
    "comments that open": filled("<!--"),
    "tags that open": filled("<a"),
    "HTML that nobody closes": filled("<b>"),
    "HTML in HTML": filled("<div>x"),
    "HTML that repeats in every paragraph": Array.from({ length: 3000 }, (_, at) => `<b title="${at}">x\n\n`).join(""),
    "a table that is much wider than its rows": `|${filled("a|", 40_000)}\n|${filled("-|", 40_000)}\n${filled("|\n", 40_000)}`,
    "many small tables": filled("\n|a|\n|-|\n"),
    "one long address for many links": `[a]: ${"x".repeat(50_000)}\n\n${filled("[a] ", 140_000)}`,
    "one long title for many links": `[a]: b "${"x".repeat(50_000)}"\n\n${filled("[a] ", 140_000)}`,
    "many definitions": filled("[a]: b\n"),
    addresses: filled("http://a "),
    "addresses without a scheme": filled("www.a.b/"),
    "mail addresses": filled("a@"),
    "half characters": filled("\ud800*\udc00_"),
  };
  test.each(Object.entries(hostile))("%s", (_, text) => {
    const { html, note } = renderMarkdown(text);
    // 0.6 s and at most 1.3 million characters; minutes, and the runner's time limit, if work grew with the square.
    expect((html ?? "").length).toBeLessThan(3_000_000);
    expect(html !== null || note !== null).toBe(true);
  });
});

test("HTML that a browser would repeat in every paragraph stays text, and the rest is set out", () => {
  const { html, note } = renderMarkdown(
    `# Tea\n\n${Array.from({ length: 500 }, (_, at) => `<b title="${at}">x\n\n`).join("")}`,
  );
  expect(note).toBe("HTML in this text is shown as source: there is too much of it.");
  expect(html).toContain("<h1>Tea</h1>");
  expect(html).toContain("&lt;b title=");
  expect(html).not.toContain("<b ");
});
