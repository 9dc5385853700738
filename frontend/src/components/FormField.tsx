import { type ReactNode, useId } from "react";

import { TextWithCode } from "./TextWithCode.tsx";

interface Given {
  id: string;
  className: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean;
}

interface Props {
  label: string;
  optional?: boolean;
  about?: ReactNode;
  problem?: string | undefined;
  /** Renders the control with the attributes that tie it to its label and texts. */
  children: (given: Given) => ReactNode;
}

/** A control with its label, description and problem. */
export function FormField({ label, optional = false, about, problem, children }: Props): ReactNode {
  const id = useId();
  const described = [about === undefined ? "" : `${id}-about`, problem === undefined ? "" : `${id}-problem`]
    .join(" ")
    .trim();
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
        {optional ? <span className="font-normal text-soft"> · optional</span> : null}
      </label>
      {children({
        id,
        className: `field ${problem === undefined ? "" : "!border-fail"}`,
        "aria-describedby": described === "" ? undefined : described,
        "aria-invalid": problem !== undefined,
      })}
      {about === undefined ? null : (
        <p id={`${id}-about`} className="mt-1 max-w-reading text-meta text-soft">
          {about}
        </p>
      )}
      {problem === undefined ? null : (
        <p id={`${id}-problem`} role="alert" className="mt-1 text-dense text-fail">
          <TextWithCode text={problem} />
        </p>
      )}
    </div>
  );
}
