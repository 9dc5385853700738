import { Braces } from "lucide-react";
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useId, useRef, useState } from "react";

import { Suggestions } from "./Suggestions.tsx";
import { fitting, type Suggestion } from "../definition/suggestions.ts";
import { spansOf, typedAt } from "../definition/templates.ts";
import type { Issue } from "../definition/useCheck.ts";

interface Props {
  id: string;
  text: string;
  onChange: (text: string) => void;
  suggestions: readonly Suggestion[];
  issues: readonly Issue[];
  placeholder: string;
  describedBy: string | undefined;
  /** Lines it shows when it is empty. */
  rows?: number;
  mono?: boolean;
  readOnly: boolean;
  required: boolean;
  box: RefObject<HTMLTextAreaElement | null>;
}

/** The range a suggestion replaces, and the text typed so far. */
interface Open {
  from: number;
  to: number;
  typed: string;
}

/**
 * A text field for references. `${{` opens the suggestions; a bad reference is underlined.
 *
 * The text is rendered twice: the hidden layer below holds the underlines and sets the height.
 */
export function TemplateText({
  id,
  text,
  onChange,
  suggestions,
  issues,
  placeholder,
  describedBy,
  rows = 1,
  mono = false,
  readOnly,
  required,
  box,
}: Props): ReactNode {
  const [open, setOpen] = useState<Open | null>(null);
  const [active, setActive] = useState(0);
  const list = useId();
  const shown = open === null ? [] : fitting(suggestions, open.typed);
  const at = Math.min(active, Math.max(0, shown.length - 1));
  const caret = useRef<number | null>(null);
  const holder = useRef<HTMLDivElement>(null);

  useEffect(() => {
    if (caret.current === null) return;
    box.current?.focus();
    box.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });

  function look(now: string, position: number): void {
    setOpen(typedAt(now, position));
    setActive(0);
  }

  function pick(suggestion: Suggestion): void {
    if (open === null) return;
    caret.current = open.from + suggestion.text.length;
    setOpen(null);
    onChange(text.slice(0, open.from) + suggestion.text + text.slice(open.to));
  }

  function keys(event: KeyboardEvent): void {
    if (open === null || event.ctrlKey || event.metaKey) return;
    const chosen = shown[at];
    if (event.key === "Escape") setOpen(null);
    else if (event.key === "ArrowDown" && shown.length > 0) setActive((at + 1) % shown.length);
    else if (event.key === "ArrowUp" && shown.length > 0) setActive((at + shown.length - 1) % shown.length);
    else if (event.key === "Enter" && chosen !== undefined) pick(chosen);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function take(): void {
    const field = box.current;
    if (field === null) return;
    field.focus();
    const [from, to] =
      document.activeElement === field && open === null
        ? [field.selectionStart, field.selectionEnd]
        : [text.length, text.length];
    setOpen(open === null ? { from, to, typed: "" } : null);
    setActive(0);
  }

  return (
    <div
      ref={holder}
      className="relative"
      onBlur={(event) => {
        if (!holder.current?.contains(event.relatedTarget)) setOpen(null);
      }}
    >
      <div className={`grid ${mono ? "font-mono" : ""}`}>
        <div
          aria-hidden="true"
          className={`field pointer-events-none col-start-1 row-start-1 !border-transparent !bg-transparent !pr-9 whitespace-pre-wrap text-transparent select-none wrap-anywhere ${mono ? "!text-dense" : ""}`}
        >
          <Marked text={text} issues={issues} />
          {"\n".repeat(Math.max(0, rows - text.split("\n").length))}
          {"\u200b"}
        </div>
        <textarea
          ref={box}
          id={id}
          value={text}
          rows={1}
          readOnly={readOnly}
          required={required}
          placeholder={placeholder}
          spellCheck={!mono}
          aria-describedby={describedBy}
          aria-invalid={issues.some(({ severity }) => severity === "ERROR")}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={open === null ? undefined : list}
          aria-activedescendant={open === null || shown.length === 0 ? undefined : `${list}-${at}`}
          className={`field col-start-1 row-start-1 resize-none overflow-hidden !bg-transparent !pr-9 wrap-anywhere ${mono ? "!text-dense" : ""} ${issues.some(({ severity }) => severity === "ERROR") ? "!border-fail" : ""}`}
          onChange={(event) => {
            onChange(event.target.value);
            look(event.target.value, event.target.selectionStart);
          }}
          onSelect={(event) => {
            const { selectionStart, selectionEnd } = event.currentTarget;
            if (open !== null && open.typed !== "" && selectionStart === selectionEnd) look(text, selectionStart);
          }}
          onKeyDown={keys}
        />
      </div>
      {readOnly ? null : (
        <button
          type="button"
          className="absolute top-1 right-1 rounded p-1 text-soft hover:bg-hover hover:text-ink"
          title="Use a value from an input or an earlier step; or type ${{"
          aria-label="Use a value from an input or an earlier step"
          aria-expanded={open !== null}
          onClick={take}
        >
          <Braces aria-hidden="true" className="size-4" />
        </button>
      )}
      {open === null ? null : (
        <Suggestions
          id={list}
          suggestions={shown}
          active={at}
          any={suggestions.length > 0}
          onPick={pick}
          onActive={setActive}
        />
      )}
    </div>
  );
}

/** The text with what the check says against a reference underlined. */
function Marked({ text, issues }: { text: string; issues: readonly Issue[] }): ReactNode {
  if (issues.length === 0) return text;
  const spans = spansOf(text);
  const wrong = spans.filter(({ start, end }) =>
    issues.some(({ message }) => message.includes(text.slice(start, end))),
  );
  const marked = wrong.length > 0 ? wrong : spans.length > 0 ? spans : [{ start: 0, end: text.length }];
  const parts: ReactNode[] = [];
  let at = 0;
  for (const { start, end } of marked) {
    const error = issues.some(({ severity }) => severity === "ERROR");
    parts.push(
      text.slice(at, start),
      <span
        key={start}
        className={`underline decoration-wavy decoration-1 underline-offset-3 ${error ? "decoration-fail" : "decoration-warn"}`}
      >
        {text.slice(start, end)}
      </span>,
    );
    at = end;
  }
  return [...parts, text.slice(at)];
}
