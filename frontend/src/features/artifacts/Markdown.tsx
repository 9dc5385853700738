import DOMPurify from "dompurify";
import { type ReactNode, useMemo } from "react";

import { Code } from "../../components/Code.tsx";
import { renderMarkdown } from "./renderMarkdown.ts";

/** Addresses a link may lead to; headings have no ids, so none leads to a part of the text. */
const SAFE = /^(?:https?:|mailto:|\/)/i;
/** Attributes that never hold a URL. */
const NO_ADDRESS = ["align", "colspan", "dir", "lang", "open", "rowspan", "scope", "start", "tabindex"];

const purify = DOMPurify();
purify.addHook("uponSanitizeAttribute", (_node, data) => {
  // Nothing is fetched from other servers: they would learn who reads.
  if (data.attrName === "src") data.keepAttr = false;
});
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A" || !node.hasAttribute("href")) return;
  node.setAttribute("rel", "noreferrer noopener");
  node.setAttribute("target", "_blank");
});

/** HTML that runs no script and sends no request. */
function safe(html: string): string {
  return purify.sanitize(html, {
    USE_PROFILES: { html: true },
    FORBID_TAGS: ["img", "form", "input", "button", "select", "textarea", "style", "video", "audio", "source", "track"],
    FORBID_ATTR: ["style", "class", "id", "name", "srcset"],
    ALLOWED_URI_REGEXP: SAFE,
    ADD_URI_SAFE_ATTR: NO_ADDRESS,
    ALLOW_DATA_ATTR: false,
  });
}

/** Rendered Markdown, or its source when rendering would exceed the limits. */
export function Markdown({ text, name }: { text: string; name: string }): ReactNode {
  const { html, note } = useMemo(() => {
    const found = renderMarkdown(text);
    return { ...found, html: found.html === null ? null : safe(found.html) };
  }, [text]);
  return (
    <>
      {note === null ? null : <p className="mb-2 text-soft">{note}</p>}
      {html === null ? (
        <div className="[&>pre]:max-h-[75vh]">
          <Code text={text} label={name} />
        </div>
      ) : (
        // oxlint-disable-next-line react/no-danger -- sanitised just above
        <div className="prose-page" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
      )}
    </>
  );
}
