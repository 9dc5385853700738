import { type ReactNode, useId } from "react";

import { Button } from "./Button.tsx";
import { ContentBoundary } from "./ContentBoundary.tsx";
import { Modal } from "./Modal.tsx";

/** A dialog with a heading in the middle of the window. */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}): ReactNode {
  const heading = useId();
  return (
    <Modal
      labelledBy={heading}
      onClose={onClose}
      className={`m-auto max-h-[min(90vh,760px)] ${wide ? "w-[min(94vw,860px)]" : "w-[min(92vw,560px)]"} overflow-auto rounded-lg border p-6`}
    >
      <h2 id={heading} className="mb-3">
        {title}
      </h2>
      <ContentBoundary what={title} of={[children]} beside={<Button onClick={onClose}>Close</Button>}>
        {children}
      </ContentBoundary>
    </Modal>
  );
}
