import { type ReactNode, useRef, useState } from "react";
import { useQuery } from "urql";

import { bytes } from "../../lib/text/format.ts";
import { useFocusInside } from "../../lib/browser/focus.ts";
import { UploadError, upload } from "./upload.ts";
import { Button } from "../../components/Button.tsx";
import { FileChoicesDocument } from "./files.generated.ts";
import { Timestamp } from "../../components/Timestamp.tsx";

interface Props {
  id: string;
  value: string;
  required: boolean;
  className: string;
  "aria-invalid": boolean;
  "aria-describedby": string | undefined;
  onChange: (event: { target: { value: string } }) => void;
}

/** A field for a file: uploaded, dropped, chosen from the artifacts, or named by its id. */
export function FileField(props: Props): ReactNode {
  const { onChange } = props;
  const [state, setState] = useState<{ word: string; failed: boolean } | null>(null);
  const [choosing, setChoosing] = useState(false);
  const picker = useRef<HTMLInputElement>(null);

  async function send(file: File | undefined): Promise<void> {
    if (file === undefined) return;
    setState({ word: `Sending ${file.name}, ${bytes(file.size)}…`, failed: false });
    try {
      onChange({ target: { value: await upload(file) } });
      setState({ word: `${file.name}, ${bytes(file.size)}`, failed: false });
    } catch (failure) {
      if (!(failure instanceof UploadError)) throw failure;
      setState({ word: failure.message, failed: true });
    }
  }

  return (
    <div
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void send(event.dataTransfer.files[0]);
      }}
    >
      <div className="flex flex-wrap gap-2">
        <input
          {...props}
          placeholder="art_…"
          spellCheck={false}
          className={`${props.className} min-w-40 !w-auto flex-1 font-mono text-dense`}
        />
        <input
          ref={picker}
          type="file"
          aria-hidden="true"
          tabIndex={-1}
          className="hidden"
          onChange={(event) => void send(event.target.files?.[0])}
        />
        <Button onClick={() => picker.current?.click()}>Upload…</Button>
        <Button aria-expanded={choosing} onClick={() => setChoosing(!choosing)}>
          Choose…
        </Button>
      </div>
      <p role="status" className={`text-meta ${state?.failed === true ? "text-fail" : "text-soft"}`}>
        {state?.word}
      </p>
      {choosing ? (
        <Choices
          onChoose={(file) => {
            onChange({ target: { value: file.id } });
            setState({ word: `${file.name}, ${bytes(file.sizeBytes)}`, failed: false });
            setChoosing(false);
          }}
        />
      ) : null}
    </div>
  );
}

function Choices({
  onChoose,
}: {
  onChoose: (file: { id: string; name: string; sizeBytes: number }) => void;
}): ReactNode {
  const [text, setText] = useState("");
  const [{ data, fetching }] = useQuery({ query: FileChoicesDocument, variables: { text: text === "" ? null : text } });
  const files = data?.artifacts.nodes ?? [];
  return (
    <div ref={useFocusInside()} className="mt-1 rounded border border-line p-2">
      <input
        type="search"
        aria-label="Search files"
        placeholder="Search files"
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="field"
      />
      <ul className="mt-1 max-h-56 overflow-auto">
        {files.map((file) => (
          <li key={file.id}>
            <button
              type="button"
              className="row flex w-full items-baseline gap-3 rounded px-2 py-1 text-left text-dense hover:bg-hover"
              onClick={() => onChoose(file)}
            >
              <span className="min-w-0 flex-1 truncate font-medium">{file.name}</span>
              <span className="text-soft">{bytes(file.sizeBytes)}</span>
              <span className="text-soft">
                <Timestamp at={file.createdAt} relative />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {files.length === 0 && !fetching ? (
        <p className="px-2 py-1 text-soft">{text === "" ? "There are no files yet." : "No file has this name."}</p>
      ) : null}
    </div>
  );
}
