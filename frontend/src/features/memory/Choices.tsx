import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";

import { Button } from "../../components/Button.tsx";
import { useFocusInside } from "../../lib/browser/focus.ts";
import { count as counted } from "../../lib/text/format.ts";
import type { UsualChoicesFragment } from "./memory.generated.ts";

type Value = UsualChoicesFragment["values"][number];
type Rule = "LEARNED" | "PINNED" | "EXCLUDED";

/** Pins, excludes or learns again a default of a pack or pipeline. */
export type ChangeRule = (target: string, field: Value["field"], rule: Rule, value: string | null) => void;

interface Props {
  entry: UsualChoicesFragment;
  onSettle: ChangeRule;
  onForget: (scope: string, what: string) => void;
}

/** What somebody usually chooses for one pack or pipeline, a row for each field. */
export function Choices({ entry, onSettle, onForget }: Props): ReactNode {
  const name = entry.entry?.name ?? entry.target;
  const isPipeline =
    entry.entry === null
      ? entry.target.startsWith("pipe_") || entry.target.startsWith("builtin.")
      : entry.entry.__typename === "Pipeline";
  return (
    <section className={entry.values.length === 0 ? "border-b border-line py-1.5" : "mb-6"} aria-label={name}>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <h3 className="wrap-anywhere">
          {entry.entry === null ? (
            <>
              {name} <span className="font-normal text-soft">(deleted)</span>
            </>
          ) : entry.entry.__typename === "Pipeline" ? (
            <Link to="/pipelines/$pipeline" params={{ pipeline: entry.entry.key }} className="link">
              {name}
            </Link>
          ) : (
            <Link to="/catalog/$pack" params={{ pack: entry.target }} className="link font-mono">
              {name}
            </Link>
          )}
        </h3>
        <p className="text-dense text-soft">
          {entry.values.length === 0 ? "no suggestions yet · " : ""}
          {entry.uses === 0 ? "not used lately" : counted(entry.uses, "successful use")}
          {entry.uses === 0 ? null : (
            <>
              {" · "}
              <button
                type="button"
                className="link"
                aria-label={`Forget ${name}`}
                onClick={() => onForget(`${isPipeline ? "pipeline" : "pack"}:${entry.target}`, name)}
              >
                Forget
              </button>
            </>
          )}
        </p>
      </div>
      {entry.values.length === 0 ? null : (
        <ul>
          {entry.values.map((value) => (
            <Choice
              key={value.field}
              value={value}
              uses={entry.uses}
              name={name}
              onSettle={(rule, text) => onSettle(entry.target, value.field, rule, text)}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

interface ChoiceProps {
  value: Value;
  uses: number;
  name: string;
  onSettle: (rule: Rule, text: string | null) => void;
}

function Choice({ value, uses, name, onSettle }: ChoiceProps): ReactNode {
  const [choosing, setChoosing] = useState(false);
  const field = value.field.toLowerCase().replaceAll("_", " ");
  return (
    <li
      className="grid grid-cols-[8rem_minmax(8rem,1fr)_10rem_auto] items-center gap-x-4 gap-y-1 border-b border-line py-1.5 text-dense max-md:grid-cols-1"
      aria-label={`${field} of ${name}`}
    >
      <span className="text-soft">{field}</span>
      <span className="min-w-0">
        <span className="font-medium wrap-anywhere">{value.excluded ? "never learned" : value.value}</span>
        {value.others.length === 0 ? null : (
          <span className="block truncate text-meta text-soft" title={value.others.join(", ")}>
            also {value.others.join(", ")}
          </span>
        )}
      </span>
      {value.pinned || value.excluded ? (
        <span className="text-meta text-soft">{value.source}</span>
      ) : (
        <Share share={value.share} count={value.count} uses={uses} />
      )}
      <span className="flex flex-wrap justify-end gap-x-3 max-md:justify-start">
        <button type="button" className="link" aria-expanded={choosing} onClick={() => setChoosing(!choosing)}>
          Use another
        </button>
        {value.pinned || value.excluded ? (
          <button type="button" className="link" onClick={() => onSettle("LEARNED", null)}>
            Learn again
          </button>
        ) : null}
        {value.excluded ? null : (
          <button type="button" className="link" onClick={() => onSettle("EXCLUDED", null)}>
            Never learn
          </button>
        )}
      </span>
      {choosing ? (
        <Another
          field={field}
          others={value.others}
          onChoose={(text) => {
            setChoosing(false);
            onSettle("PINNED", text);
          }}
        />
      ) : null}
    </li>
  );
}

/** How much of all uses a value makes up, as a bar and in words. */
function Share({ share, count, uses }: { share: number; count: number; uses: number }): ReactNode {
  return (
    <span
      className="flex items-center gap-2 text-meta text-soft"
      title={`${Math.round(share * 100)}%, recent uses count more`}
    >
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" className="h-1.5 w-20 rounded" aria-hidden="true">
        <rect width="100" height="6" className="fill-line" />
        <rect width={(count / Math.max(uses, 1)) * 100} height="6" className="fill-accent" />
      </svg>
      {count} of {uses}
    </span>
  );
}

function Another({
  field,
  others,
  onChoose,
}: {
  field: string;
  others: readonly string[];
  onChoose: (text: string) => void;
}): ReactNode {
  const [text, setText] = useState("");
  return (
    <form
      ref={useFocusInside()}
      className="col-span-full flex flex-wrap items-center gap-2 py-1"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") onChoose(text.trim());
      }}
    >
      {others.map((other) => (
        <Button key={other} onClick={() => onChoose(other)}>
          {other}
        </Button>
      ))}
      <input
        className="field !w-64"
        aria-label={`Another ${field}`}
        maxLength={100}
        value={text}
        onChange={(event) => setText(event.target.value)}
        placeholder="another value"
      />
      <Button type="submit" kind="primary" disabled={text.trim() === ""}>
        Use it
      </Button>
    </form>
  );
}
