import { useRouter } from "@tanstack/react-router";
import { Command } from "cmdk";
import { type ReactNode, useState } from "react";
import { useQuery } from "urql";

import { Modal } from "../../components/Modal.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { StateGlyph } from "../../domain/runs/StateMark.tsx";
import { withBase } from "../../lib/server/base.ts";
import { askPlace } from "../../domain/start/askPlace.ts";
import { encoded } from "../../lib/json/untrusted.ts";
import { type Action, type ActionGroup, offeredActions } from "../../lib/browser/shortcuts.ts";
import { STATES } from "../../domain/runs/states.ts";
import { useDebounced } from "../../lib/hooks/useDebounced.ts";
import { Keys } from "./Keys.tsx";
import { matches } from "./matches.ts";
import { PaletteFoundDocument } from "./palette.generated.ts";
import { PLACES } from "./places.ts";

/** Delay before typed text is sent to the server. */
const TYPING_MS = 120;
/** From this many words on, the text is a request, not a name. */
const SENTENCE_WORDS = 3;

/** Searches pages, pipelines, packs, runs and commands. */
export function Palette({ onClose }: { onClose: () => void }): ReactNode {
  const router = useRouter();
  const [typed, setTyped] = useState("");
  // What is offered below the palette, which offers nothing itself.
  const [offered] = useState(offeredActions);
  const { value: text } = useDebounced(typed.trim(), TYPING_MS);
  const [{ data }] = useQuery({ query: PaletteFoundDocument, variables: { text: text === "" ? null : text } });

  function act(what: () => void): void {
    onClose();
    // After the dialog has released the focus, which the command may need.
    setTimeout(what);
  }

  const go = (href: string) => act(() => router.history.push(withBase(href)));
  const found = data?.catalog.nodes ?? [];
  const pipelines = found.flatMap((entry) => (entry.__typename === "Pipeline" ? [entry] : []));
  const packs = found.flatMap((entry) => (entry.__typename === "Pack" ? [entry] : []));
  const runs = data?.runs.nodes ?? [];
  // Few words search for a name; a sentence is a request, listed first so that results do not move it.
  const wish = typed.trim();
  const sentence = wish.split(/\s+/).length >= SENTENCE_WORDS;
  const ask = (
    <Items heading="Ask">
      {wish === ""
        ? []
        : [
            <Item
              key="ask"
              value="ask"
              onSelect={() => act(() => void router.navigate({ to: "/", ...askPlace(wish) }))}
            >
              <span className="min-w-0 flex-1 truncate">Ask what to run for “{wish}”</span>
            </Item>,
          ]}
    </Items>
  );
  return (
    <Modal
      label="Commands"
      onClose={onClose}
      closesOutside
      className="mx-auto mt-[12vh] w-[min(94vw,620px)] rounded-lg border p-0"
    >
      <Command shouldFilter={false} label="Commands" loop>
        <Command.Input
          data-autofocus=""
          value={typed}
          onValueChange={setTyped}
          placeholder="Search or run a command…"
          className="w-full border-b border-line bg-page px-4 py-3 text-body outline-none"
        />
        <Command.List className="max-h-[min(60vh,440px)] overflow-auto p-2">
          <Command.Empty className="px-3 py-4 text-soft">
            There is no page, run, pipeline or pack with this name.
          </Command.Empty>
          {sentence ? ask : null}
          {offered.map((group) => (
            <Here key={group.name} group={group} typed={typed} act={act} />
          ))}
          <Items heading="Go to">
            {PLACES.filter(({ word, words }) => matches(`${word} ${words}`, typed)).map(({ word, href, keys }) => (
              <Item key={href} value={href} onSelect={() => go(href)} keys={keys}>
                {word}
              </Item>
            ))}
          </Items>
          <Items heading="Runs">
            {runs.map(({ id, title, state, createdAt }) => (
              <Item key={id} value={id} onSelect={() => go(`/runs/${id}`)}>
                <StateGlyph state={state} />
                <span className="sr-only">{STATES[state].word}: </span>
                <span className="min-w-0 flex-1 truncate">{title}</span>
                <span className="text-meta text-soft">
                  <Timestamp at={createdAt} relative />
                </span>
              </Item>
            ))}
          </Items>
          <Items heading="Pipelines">
            {pipelines.map(({ id, key, name }) => (
              <Item key={id} value={id} onSelect={() => go(`/pipelines/${encoded(key)}`)}>
                {name}
              </Item>
            ))}
          </Items>
          <Items heading="Packs">
            {packs.map(({ id, name }) => (
              <Item key={id} value={id} onSelect={() => go(`/catalog/${encoded(id)}`)}>
                <span className="font-mono text-dense">{name}</span>
              </Item>
            ))}
          </Items>
          {sentence ? null : ask}
        </Command.List>
      </Command>
    </Modal>
  );
}

function Here({
  group,
  typed,
  act,
}: {
  group: ActionGroup;
  typed: string;
  act: (what: () => void) => void;
}): ReactNode {
  const known = new Set<string>();
  const actions = group.actions.filter(
    ({ says, quiet }) => quiet !== true && matches(says, typed) && !known.has(says) && known.add(says),
  );
  if (group.name === "Go to") return null;
  return (
    <Items heading={group.name}>
      {actions.map((action: Action) => (
        <Item
          key={action.says}
          value={`${group.name} ${action.says}`}
          onSelect={() => act(action.act)}
          keys={action.keys}
        >
          {action.says}
        </Item>
      ))}
    </Items>
  );
}

function Items({ heading, children }: { heading: string; children: readonly ReactNode[] }): ReactNode {
  if (children.length === 0) return null;
  return (
    <Command.Group
      heading={heading}
      className="mb-1 [&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-meta [&_[cmdk-group-heading]]:text-soft"
    >
      {children}
    </Command.Group>
  );
}

function Item({
  value,
  onSelect,
  keys = null,
  children,
}: {
  value: string;
  onSelect: () => void;
  keys?: string | null;
  children: ReactNode;
}): ReactNode {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="row flex cursor-pointer items-center gap-2 rounded px-3 py-1.5 data-[selected=true]:bg-accent-tint"
    >
      {children}
      {keys === null ? null : (
        <span className="ml-auto">
          <Keys keys={keys} />
        </span>
      )}
    </Command.Item>
  );
}
