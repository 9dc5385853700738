import { Link, useLocation, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, type KeyboardEvent, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { useQuery } from "urql";

import { Button } from "../../components/Button.tsx";
import { Notice } from "../../components/Notice.tsx";
import { LazyFallback } from "../../components/LazyFallback.tsx";
import { askPlace } from "../../domain/start/askPlace.ts";
import { lazyComponent } from "../../lib/server/lazyComponent.ts";
import { lazyLoad } from "../../lib/server/lazyLoad.ts";
import { useIsNavigating } from "../../lib/browser/useIsNavigating.ts";
import { useActions } from "../../lib/browser/shortcuts.ts";
import { useDebounced } from "../../lib/hooks/useDebounced.ts";
import { startOf } from "../../lib/text/excerpt.ts";
import { AskRouterDocument } from "./ask.generated.ts";
import { choicesOf } from "./routing.ts";
import { useFiles } from "./useFiles.ts";
import { useRoute } from "./useRoute.ts";

const loadAnswers = lazyLoad(() => import("./Answers.tsx"));
const Answers = lazyComponent(loadAnswers, "Answers");

/** Pause in typing after which keywords are matched. */
const PAUSE_MS = 250;
/** The words of a request that are enough to search the catalog by. */
const LONGEST_SEARCH = 100;
/** What the server reads. */
const LONGEST = 20_000;

/** The ask box: answers a request with pipelines and packs, ready to run. Nothing runs until the user confirms. */
export function AskBox(): ReactNode {
  const search = useSearch({ from: "/" });
  const kept = useLocation({ select: ({ state }) => state.ask });
  const ask = search.ask ?? kept ?? "";
  const navigate = useNavigate({ from: "/" });
  const isNavigating = useIsNavigating();
  const [typed, setTyped] = useState(ask);
  const [entered, setEntered] = useState({ text: ask, round: 0 });
  const [chosen, setChosen] = useState<{ key: string; index: number } | null>(null);
  const attached = useFiles();
  const input = useRef<HTMLInputElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const answers = useRef<HTMLDivElement>(null);

  const [{ data: roles }] = useQuery({ query: AskRouterDocument });
  const model =
    roles?.modelRoles.find(({ role }) => role === "router")?.chain.find(({ availability }) => availability.usable)
      ?.key ?? null;
  const byWords = roles !== undefined && model === null;
  const whole = typed.trim();
  const text = startOf(whole, LONGEST).trim();
  const { value: settled } = useDebounced(text, PAUSE_MS);
  // With a model every request costs, so only Enter sends it.
  const request = text === "" || text === entered.text ? text : byWords ? settled : entered.text;
  const { answered, asking, stop } = useRoute({ request, files: attached.files, round: entered.round });
  const shown = answered?.answer == null ? [] : choicesOf(answered.answer);
  const best = answered?.answer?.recommendation.id == null ? -1 : 0;
  const open = chosen !== null && chosen.key === answered?.key ? chosen.index : best;

  // The request is in the address or the history; a request from there, such as from the palette, is sent.
  const written = useRef(ask);
  useEffect(() => {
    if (request === written.current || isNavigating()) return;
    written.current = request;
    void navigate({ ...askPlace(request), replace: true, resetScroll: false });
  }, [request, navigate, isNavigating]);
  useEffect(() => {
    if (ask === written.current) return;
    written.current = ask;
    setTyped(ask);
    setEntered((known) => ({ text: ask, round: known.round }));
  }, [ask]);

  useActions("Home", [{ keys: "/", says: "Ask what to run", act: () => input.current?.focus() }]);

  function choose(index: number): void {
    if (answered !== null) setChosen({ key: answered.key, index });
  }

  function enter(event: FormEvent): void {
    event.preventDefault();
    setEntered((known) => ({ text, round: known.text === text ? known.round + 1 : known.round }));
  }

  function keys(event: KeyboardEvent): void {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      answers.current?.querySelector("form")?.requestSubmit();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && shown.length > 0) {
      event.preventDefault();
      choose(Math.min(shown.length - 1, Math.max(0, open + (event.key === "ArrowDown" ? 1 : -1))));
    } else if (event.key === "Escape" && (asking || typed !== "")) {
      event.preventDefault();
      if (asking) stop();
      else setTyped("");
    }
  }

  return (
    // Files may be dropped anywhere on it; the button does the same.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      className="mb-8 max-w-3xl"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        // A field for a file has taken it already.
        if (event.defaultPrevented) return;
        event.preventDefault();
        void attached.add(event.dataTransfer.files);
      }}
    >
      <search>
        <form onSubmit={enter} className="flex flex-wrap gap-2">
          <input
            ref={input}
            type="search"
            aria-label="Ask what to run"
            aria-describedby="ask-how"
            placeholder="What do you want done? For example: slides from a PDF"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            onKeyDown={keys}
            className="field min-w-52 !w-auto flex-1 max-md:basis-full"
          />
          <input
            ref={picker}
            type="file"
            multiple
            aria-hidden="true"
            tabIndex={-1}
            className="hidden"
            onChange={(event) => {
              void attached.add([...(event.target.files ?? [])]);
              event.target.value = "";
            }}
          />
          <Button onClick={() => picker.current?.click()}>Add a file…</Button>
          <Button type="submit">Ask</Button>
        </form>
      </search>
      {attached.files.length === 0 ? null : (
        <ul aria-label="Files" className="mt-2 flex flex-wrap gap-2">
          {attached.files.map(({ id, name }) => (
            <li
              key={id}
              className="inline-flex max-w-full items-center gap-1 rounded border border-line bg-panel py-0.5 pr-1 pl-2 text-dense"
            >
              <span className="truncate">{name}</span>
              <button
                type="button"
                aria-label={`Remove ${name}`}
                className="rounded px-1 text-soft hover:bg-hover hover:text-ink"
                onClick={() => attached.drop(id)}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
      <p id="ask-how" className="mt-1 text-meta text-soft">
        {model === null
          ? "Matches your request to pipelines. Nothing runs until you confirm."
          : `Press Enter to ask ${model}. Nothing runs until you confirm.`}{" "}
        <Link to="/catalog" search={text === "" ? {} : { q: startOf(text, LONGEST_SEARCH) }} className="link">
          Search the catalog instead
        </Link>
        {whole.length <= LONGEST ? null : (
          <span role="status" className="block text-warn">
            Requests are limited to {LONGEST.toLocaleString()} characters. The rest is not sent.
          </span>
        )}
      </p>
      <p role="status" className={`text-dense ${attached.failed ? "text-fail" : "text-soft"}`}>
        {attached.word}
        {asking && !byWords ? "Asking… " : ""}
      </p>
      {asking && !byWords ? (
        <Button kind="quiet" onClick={stop}>
          Stop
        </Button>
      ) : null}
      <Notice problem={answered?.problem ?? null} />
      <div ref={answers} aria-busy={asking}>
        {answered?.answer == null ? null : (
          <Suspense fallback={<LazyFallback />}>
            <Answers
              key={answered.key}
              answer={answered.answer}
              request={answered.question.request}
              choices={shown}
              open={open}
              onOpen={choose}
            />
          </Suspense>
        )}
      </div>
    </div>
  );
}
