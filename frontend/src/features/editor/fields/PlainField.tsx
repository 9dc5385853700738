import { type ReactNode, useId, useState } from "react";

import { TextWithCode } from "../../../components/TextWithCode.tsx";
import type { Issue } from "../definition/useCheck.ts";

interface Props {
  label: string;
  /** As in the document; what the check's links look for. */
  name: string;
  text: string;
  onChange: (text: string) => void;
  issues: readonly Issue[];
  readOnly: boolean;
  about?: string;
  placeholder?: string;
  mono?: boolean;
  number?: boolean;
  rows?: number;
  /** Reports the text when the field loses the focus, not at every key. */
  settle?: boolean;
}

/** A field that holds no references. */
export function PlainField({
  label,
  name,
  text,
  onChange,
  issues,
  readOnly,
  about,
  placeholder,
  mono = false,
  number = false,
  rows = 1,
  settle = false,
}: Props): ReactNode {
  const id = useId();
  const [typed, setTyped] = useState(text);
  const [known, setKnown] = useState(text);
  if (known !== text) {
    setKnown(text);
    setTyped(text);
  }
  const wrong = issues.some(({ severity }) => severity === "ERROR");
  const described = [about === undefined ? null : `${id}-about`, issues.length === 0 ? null : `${id}-issues`]
    .filter((part) => part !== null)
    .join(" ");
  const done = (): void => {
    if (settle && typed !== text) onChange(typed.trim());
  };
  const common = {
    id,
    value: typed,
    readOnly,
    placeholder,
    "aria-invalid": wrong,
    "aria-describedby": described === "" ? undefined : described,
    className: `field ${mono ? "font-mono !text-dense" : ""} ${wrong ? "!border-fail" : ""}`,
    onBlur: done,
    onChange: ({ target }: { target: { value: string } }) => {
      setTyped(target.value);
      if (settle) return;
      setKnown(target.value);
      onChange(target.value);
    },
  };
  return (
    <div data-field={name} className="min-w-0">
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      {rows > 1 ? (
        <textarea {...common} rows={rows} />
      ) : (
        <input
          {...common}
          inputMode={number ? "decimal" : undefined}
          autoComplete="off"
          onKeyDown={({ key }) => {
            if (key === "Enter") done();
          }}
        />
      )}
      {issues.map(({ message, hint, severity }) => (
        <p
          key={message}
          id={`${id}-issues`}
          className={`mt-1 text-dense wrap-anywhere ${severity === "ERROR" ? "text-fail" : "text-warn"}`}
        >
          <TextWithCode text={`${message} ${hint ?? ""}`} />
        </p>
      ))}
      {about === undefined ? null : (
        <p id={`${id}-about`} className="mt-1 text-meta text-soft">
          {about}
        </p>
      )}
    </div>
  );
}
