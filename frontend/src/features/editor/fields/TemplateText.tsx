import { Combobox, ComboboxItem, ComboboxPopover, useComboboxStore } from "@ariakit/react/combobox";
import { Braces } from "lucide-react";
import { type ComponentProps, type ReactNode, type RefObject, useEffect, useRef, useState } from "react";

import { TextWithCode } from "../../../components/TextWithCode.tsx";
import { humanise } from "../../../lib/text/format.ts";
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
  const list = useComboboxStore({
    open: open !== null,
    setOpen: (now) => {
      if (!now) setOpen(null);
    },
    inputValue: open?.typed ?? "",
  });
  const shown = open === null ? [] : fitting(suggestions, open.typed);
  const wrong = issues.some(({ severity }) => severity === "ERROR");
  const caret = useRef<number | null>(null);
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (caret.current === null) return;
    box.current?.focus();
    box.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });

  function pick(suggestion: Suggestion): void {
    if (open === null) return;
    caret.current = open.from + suggestion.text.length;
    onChange(text.slice(0, open.from) + suggestion.text + text.slice(open.to));
  }

  function take(): void {
    const field = box.current;
    if (field === null) return;
    const [from, to] =
      document.activeElement === field ? [field.selectionStart, field.selectionEnd] : [text.length, text.length];
    field.focus();
    setOpen(open === null ? { from, to, typed: "" } : null);
  }

  return (
    <div className="relative">
      <div className={`grid ${mono ? "font-mono" : ""}`}>
        <div
          aria-hidden="true"
          className={`field pointer-events-none col-start-1 row-start-1 !border-transparent !bg-transparent !pr-9 whitespace-pre-wrap text-transparent select-none wrap-anywhere ${mono ? "!text-dense" : ""}`}
        >
          <Marked text={text} issues={issues} />
          {"\n".repeat(Math.max(0, rows - text.split("\n").length))}
          {"\u200b"}
        </div>
        <Combobox
          store={list}
          autoSelect="always"
          value={text}
          // The text of the field is more than what is searched for.
          setValueOnChange={false}
          setValueOnClick={false}
          showOnChange={false}
          showOnClick={false}
          showOnKeyPress={false}
          id={id}
          aria-describedby={describedBy}
          aria-invalid={wrong}
          render={
            <Field
              ref={box}
              rows={1}
              readOnly={readOnly}
              required={required}
              placeholder={placeholder}
              spellCheck={!mono}
              className={`field col-start-1 row-start-1 resize-none overflow-hidden !bg-transparent !pr-9 wrap-anywhere ${mono ? "!text-dense" : ""} ${wrong ? "!border-fail" : ""}`}
              onChange={({ target }) => {
                onChange(target.value);
                setOpen(typedAt(target.value, target.selectionStart));
              }}
              onSelect={({ currentTarget: { selectionStart, selectionEnd } }) => {
                if (open !== null && open.typed !== "" && selectionStart === selectionEnd)
                  setOpen(typedAt(text, selectionStart));
              }}
            />
          }
        />
      </div>
      {readOnly ? null : (
        <button
          ref={button}
          type="button"
          className="absolute top-1 right-1 rounded p-1 text-soft hover:bg-hover hover:text-ink"
          title="Use a value from an input or an earlier step; or type ${{"
          aria-label="Use a value from an input or an earlier step"
          aria-expanded={open !== null}
          // The field keeps the focus and its selection.
          onMouseDown={(event) => event.preventDefault()}
          onClick={take}
        >
          <Braces aria-hidden="true" className="size-4" />
        </button>
      )}
      <ComboboxPopover
        store={list}
        unmountOnHide
        sameWidth
        gutter={4}
        role={shown.length === 0 ? "status" : "listbox"}
        aria-label="Available values"
        hideOnInteractOutside={({ target }) => !(target instanceof Node && button.current?.contains(target))}
        hideOnEscape={(event) => {
          // Closes this, and not what the field is in.
          event.preventDefault();
          event.stopPropagation();
          return true;
        }}
        className={`z-20 max-h-72 overflow-y-auto rounded-lg border border-line bg-page shadow-float ${shown.length === 0 ? "p-3 text-soft" : "py-1"}`}
      >
        {shown.length > 0
          ? null
          : suggestions.length > 0
            ? "No earlier value has that name."
            : "There are no values yet: no input is declared, and no step comes before this one."}
        {shown.map((suggestion) => (
          <ComboboxItem
            key={suggestion.path}
            value={suggestion.path}
            selectValueOnClick={false}
            setValueOnClick={false}
            focusOnHover
            className="cursor-pointer px-3 py-1 data-active-item:bg-accent-tint"
            onClick={() => pick(suggestion)}
          >
            <span className="flex items-baseline justify-between gap-4">
              <span className="truncate font-mono text-dense">{suggestion.path}</span>
              <span className="shrink-0 text-meta text-soft">
                {suggestion.from === "input" ? "input" : humanise(suggestion.from)} · {suggestion.type}
              </span>
            </span>
            <span className="block truncate text-meta text-soft">
              {suggestion.example === "" ? (
                <TextWithCode text={suggestion.description} />
              ) : (
                `Last time: ${suggestion.example}`
              )}
            </span>
          </ComboboxItem>
        ))}
      </ComboboxPopover>
    </div>
  );
}

/** HTML gives a textarea no role but its own, which has no `aria-expanded`. */
function Field({ role: _role, "aria-expanded": _expanded, ...props }: ComponentProps<"textarea">): ReactNode {
  return <textarea {...props} />;
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
