import { useState } from "react";

import { UploadError, upload } from "../../domain/files/upload.ts";
import type { Attached } from "./routing.ts";

/** Files attached to a request. Each is uploaded at once as an artifact. */
export function useFiles(): {
  files: readonly Attached[];
  word: string;
  failed: boolean;
  add: (given: Iterable<File>) => Promise<void>;
  drop: (id: string) => void;
} {
  const [files, setFiles] = useState<readonly Attached[]>([]);
  const [state, setState] = useState({ word: "", failed: false });

  async function add(given: Iterable<File>): Promise<void> {
    for (const file of given) {
      setState({ word: `Sending ${file.name}…`, failed: false });
      try {
        // One after the other: the server takes a few at a time.
        // oxlint-disable-next-line no-await-in-loop
        const id = await upload(file);
        setFiles((kept) => [...kept.filter((one) => one.id !== id), { id, name: file.name, mediaType: file.type }]);
        setState({ word: "", failed: false });
      } catch (failure) {
        if (!(failure instanceof UploadError)) throw failure;
        setState({ word: `${file.name}: ${failure.message}`, failed: true });
        return;
      }
    }
  }

  return { files, ...state, add, drop: (id) => setFiles((kept) => kept.filter((one) => one.id !== id)) };
}
