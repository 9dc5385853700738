import { Command } from "cmdk";
import { type ReactNode, useDeferredValue, useState } from "react";
import { useQuery } from "urql";

import { Button } from "../../../components/Button.tsx";
import { Dialog } from "../../../components/Dialog.tsx";
import { Kinds } from "../../../domain/entries/Kinds.tsx";
import { problemOfError } from "../../../lib/server/problem.ts";
import { LoadingOrProblem } from "../../../components/Page.tsx";
import { TextWithCode } from "../../../components/TextWithCode.tsx";
import { EditorCatalogDocument, type EditorCatalogQuery } from "../editor.generated.ts";

type Found = Extract<EditorCatalogQuery["catalog"]["nodes"][number], { version: string }>;

/** Searches the packs by purpose. */
export function AddStepDialog({
  behind,
  onPick,
  onClose,
}: {
  behind: string | null;
  onPick: (pack: { name: string; version: string }) => void;
  onClose: () => void;
}): ReactNode {
  const [text, setText] = useState("");
  const asked = useDeferredValue(text.trim());
  const [{ data, fetching, error }] = useQuery({
    query: EditorCatalogDocument,
    variables: { text: asked === "" ? null : asked },
  });
  const found = data?.catalog.nodes.filter((node): node is Found => "version" in node) ?? [];
  return (
    <Dialog title="Add a step" onClose={onClose}>
      <p className="mb-3 text-soft">
        {behind === null ? "It becomes the first step." : `It is added after ${behind}.`}
      </p>
      <Command
        label="Search the packs"
        shouldFilter={false}
        loop
        onKeyDown={(event) => {
          // What shows does not fit the text yet.
          if (event.key === "Enter" && fetching) event.preventDefault();
        }}
      >
        <Command.Input
          data-autofocus=""
          className="field"
          placeholder="What should it do?"
          value={text}
          onValueChange={setText}
        />
        {data === undefined ? (
          <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />
        ) : null}
        <Command.List label="Packs" className="mt-3 h-104 max-h-[50vh] overflow-y-auto border-y border-line">
          {data === undefined ? null : (
            <Command.Empty className="px-2 py-4 text-soft">No pack matches “{asked}”.</Command.Empty>
          )}
          {found.map((pack) => (
            <Command.Item
              key={pack.id}
              value={pack.id}
              className="cursor-pointer border-line px-2 py-2 not-last:border-b data-[selected=true]:bg-accent-tint"
              onSelect={() => onPick(pack)}
            >
              <span className="flex flex-wrap items-baseline gap-x-3">
                <span className="font-mono text-dense font-medium">{pack.name}</span>
                <span className="text-meta text-soft">
                  <Kinds accepts={pack.metadata.accepts} produces={pack.metadata.produces} />
                </span>
                {pack.effects === "NONE" ? null : (
                  <span className="text-meta text-warn">changes an external system</span>
                )}
              </span>
              <span className="line-clamp-2 text-dense text-soft">
                <TextWithCode text={pack.metadata.typicalUse ?? pack.description.split(/\n\s*\n/)[0] ?? ""} />
              </span>
              {pack.availability.usable ? null : (
                <span className="block truncate text-meta text-warn">
                  <TextWithCode text={pack.availability.missing[0]?.message ?? "Cannot run here."} />
                </span>
              )}
            </Command.Item>
          ))}
        </Command.List>
      </Command>
      <div className="mt-4 flex justify-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
