import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";

import { Button } from "../../components/Button.tsx";

/** Looks in the catalog for what somebody wants done. */
export function CatalogSearch(): ReactNode {
  const [text, setText] = useState("");
  const navigate = useNavigate();

  function go(event: FormEvent): void {
    event.preventDefault();
    void navigate({ to: "/catalog", search: text.trim() === "" ? {} : { q: text.trim() } });
  }

  return (
    <search>
      <form onSubmit={go} className="mb-6 flex max-w-2xl gap-2">
        <input type="search" aria-label="Search packs and pipelines" placeholder="What do you want done? For example: pdf from a web page" value={text} onChange={(event) => setText(event.target.value)} className="field" />
        <Button type="submit">Search</Button>
      </form>
    </search>
  );
}
