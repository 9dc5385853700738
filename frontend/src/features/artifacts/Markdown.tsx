import DOMPurify from "dompurify";
import { marked } from "marked";
import { type ReactNode, useMemo } from "react";

/** Addresses a link may lead to. */
const SAFE = /^(?:https?:|mailto:|[#/])/i;

const purify = DOMPurify();
purify.addHook("uponSanitizeAttribute", (_node, data) => {
  // Pictures from elsewhere would tell their server who reads; those written into the text are dropped as well.
  if (data.attrName === "src") data.keepAttr = false;
});
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  node.setAttribute("rel", "noreferrer noopener");
  node.setAttribute("target", "_blank");
});

/** Markdown as HTML that runs nothing and asks nobody for anything. */
export function safeHtml(text: string): string {
  const html = marked.parse(text, { async: false, gfm: true });
  return purify.sanitize(html, {
    USE_PROFILES: { html: true },
    FORBID_TAGS: ["form", "input", "button", "select", "textarea", "style", "video", "audio", "source", "track"],
    FORBID_ATTR: ["style", "class", "id", "name", "srcset"],
    ALLOWED_URI_REGEXP: SAFE,
    ALLOW_DATA_ATTR: false,
  });
}

/** Markdown as it reads. */
export function Markdown({ text }: { text: string }): ReactNode {
  const html = useMemo(() => safeHtml(text), [text]);
  // oxlint-disable-next-line react/no-danger -- sanitised just above
  return <div className="prose-page" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />;
}
