import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";

import { Button } from "../../components/Button.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { type Filters, VIEWS } from "./filter.ts";
import { deleteView, isFree, saveView, type View } from "./views.ts";

interface Props {
  chosen: string | undefined;
  kept: readonly View[];
  filters: Filters;
}

const TAB = "border-b-2 pb-1.5 font-medium whitespace-nowrap";

/** Views as tabs: built-in ones and saved ones. */
export function Views({ chosen, kept, filters }: Props): ReactNode {
  const [naming, setNaming] = useState(false);
  const own = kept.find(({ name }) => name === chosen);
  const changed = JSON.stringify(own?.filters ?? {}) !== JSON.stringify(filters);
  const tabs = [...VIEWS, ...kept.map(({ name }) => ({ view: name, word: name }))];
  return (
    <div className="mb-3 flex items-end gap-5 shadow-[inset_0_-1px_0_var(--line)]">
      <nav aria-label="Views" className="flex gap-5 overflow-x-auto">
        {tabs.map(({ view, word }) => (
          <Link
            key={word}
            to="/runs"
            search={view === undefined ? {} : { view }}
            activeOptions={{ exact: true, includeSearch: true }}
            aria-current={chosen === view ? "page" : undefined}
            className={`${TAB} ${chosen === view ? "border-accent text-ink" : "border-transparent text-soft hover:text-ink"}`}
          >
            {word}
          </Link>
        ))}
      </nav>
      <span className="ml-auto flex gap-3 pb-1.5 text-dense whitespace-nowrap">
        {Object.keys(filters).length > 0 && changed ? (
          <button type="button" className="link" onClick={() => setNaming(true)}>
            Save view…
          </button>
        ) : null}
        {own === undefined ? null : <DropView name={own.name} />}
      </span>
      {naming ? <NameView filters={filters} given={own?.name ?? ""} onClose={() => setNaming(false)} /> : null}
    </div>
  );
}

function DropView({ name }: { name: string }): ReactNode {
  const navigate = useNavigate();
  return (
    <button
      type="button"
      className="link"
      onClick={() => {
        deleteView(name);
        void navigate({ to: "/runs", search: {} });
      }}
    >
      Delete this view
    </button>
  );
}

function NameView({ filters, given, onClose }: { filters: Filters; given: string; onClose: () => void }): ReactNode {
  const [name, setName] = useState(given);
  const navigate = useNavigate();
  const free = isFree(name);

  function save(event: FormEvent): void {
    event.preventDefault();
    if (!free) return;
    saveView({ name: name.trim(), filters });
    onClose();
    void navigate({ to: "/runs", search: { view: name.trim() } });
  }

  return (
    <Dialog title="Save these filters as a view" onClose={onClose}>
      <form onSubmit={save}>
        <label className="block">
          <span className="mb-1 block font-medium">Name</span>
          <input
            data-autofocus=""
            className="field"
            value={name}
            maxLength={40}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <p className="mt-1 min-h-5 text-meta text-soft">
          {name.trim() !== "" && !free
            ? "A built-in view has this name."
            : "The view is saved in this browser. It replaces a view with the same name."}
        </p>
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" kind="primary" disabled={!free}>
            Save view
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
