import { Link, useNavigate } from "@tanstack/react-router";
import { Redo2, Undo2 } from "lucide-react";
import { type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { useClient } from "urql";

import { Button } from "../../components/Button.tsx";
import { ContentBoundary } from "../../components/ContentBoundary.tsx";
import { MakeCopy } from "../../domain/entries/MakeCopy.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { type Problem, problemOf, problemOfCommand } from "../../lib/server/problem.ts";
import { Page } from "../../components/Page.tsx";
import { LazyDialogFallback, LazyFallback } from "../../components/LazyFallback.tsx";
import { humanise } from "../../lib/text/format.ts";
import { lazyComponent } from "../../lib/server/lazyComponent.ts";
import { lazyLoad } from "../../lib/server/lazyLoad.ts";
import { useLatest } from "../../lib/hooks/useLatest.ts";
import { CheckPanel } from "./form/CheckPanel.tsx";
import {
  addStep,
  duplicateStep,
  freeId,
  moveStep,
  type Path,
  removeStep,
  renameInput,
  renameStep,
  setAt,
} from "./definition/definition.ts";
import { type EditedPipelineFragment, EditorCreateDocument, EditorUpdateDocument } from "./editor.generated.ts";
import { PipelineForm } from "./form/PipelineForm.tsx";
import type { EditorSearch } from "./search.ts";
import { StepForm } from "./form/StepForm.tsx";
import { type At, StepList } from "./form/StepList.tsx";
import { type Checked, type Issue, useCheck } from "./definition/useCheck.ts";
import { useDefinition, usePackNames, usePacks, useSuggestions } from "./definition/useDefinition.ts";
import { readDraft, useDraft } from "./definition/useDraft.ts";
import { StepStrip } from "./yaml/StepStrip.tsx";
import type { Target } from "./yaml/YamlView.tsx";

const loadYaml = lazyLoad(() => import("./yaml/YamlView.tsx"));
const YamlView = lazyComponent(loadYaml, "default");
const SaveDialog = lazyComponent(
  lazyLoad(() => import("./dialogs/SaveDialog.tsx")),
  "SaveDialog",
);
const ConflictDialog = lazyComponent(
  lazyLoad(() => import("./dialogs/ConflictDialog.tsx")),
  "ConflictDialog",
);
const AddStepDialog = lazyComponent(
  lazyLoad(() => import("./dialogs/AddStepDialog.tsx")),
  "AddStepDialog",
);
const TestStepDialog = lazyComponent(
  lazyLoad(() => import("./dialogs/TestStepDialog.tsx")),
  "TestStepDialog",
);

/** Fetches the text editor while the pipeline is still read, where its address asks for the text. */
export function prepare(view: EditorSearch["view"]): void {
  if (view === "yaml") void loadYaml();
}

interface Props {
  /** What is edited; null for a pipeline that is not saved yet. */
  pipeline: EditedPipelineFragment | null;
  /** What a new one is a copy of. */
  source: EditedPipelineFragment | null;
  /** The run a new one is proposed from, and the runs it was made from, in order. */
  proposal?: { run: string; madeFrom: readonly { id: string; title: string }[] } | undefined;
  /** The proposal that a new one starts from, as its draft is named. */
  proposedAs?: string | undefined;
  startText: string;
  search: EditorSearch;
  onSearch: (search: EditorSearch) => void;
}

const NONE: readonly Issue[] = [];

interface Base {
  number: number | null;
  text: string;
}

type Asking =
  | { kind: "add" }
  | { kind: "save" }
  | { kind: "test"; index: number }
  | { kind: "conflict"; theirs: EditedPipelineFragment };

/** One document, edited as a form or as YAML and checked continuously. */
export function Editor({ pipeline, source, proposal, proposedAs, startText, search, onSearch }: Props): ReactNode {
  const newFrom = source?.id ?? proposal?.run ?? proposedAs;
  const draftName = pipeline?.id ?? (newFrom === undefined ? "new" : `new.${newFrom}`);
  const readOnly = pipeline !== null && !pipeline.actions.includes("UPDATE");
  const [draft, setDraft] = useState(() => {
    const found = readOnly ? null : readDraft(draftName);
    return found === null || found.text === startText ? null : found;
  });
  const [base, setBase] = useState<Base>(() => ({
    number: draft?.basedOn ?? pipeline?.currentVersion.number ?? null,
    text: startText,
  }));
  const { history, definition, readable, change, undo, redo } = useDefinition(draft?.text ?? startText);
  const { text } = history;
  const { steps } = readable;
  const checked = useCheck(text, readOnly);
  const issues = checked.check?.issues ?? [];
  // An untouched new pipeline shows its errors without alarm.
  const untouched =
    pipeline === null &&
    source === null &&
    proposal === undefined &&
    text === startText &&
    history.past.length === 0 &&
    history.future.length === 0;
  const shownIssues = untouched ? NONE : issues;
  const packs = usePacks(readable);
  const packNames = usePackNames();
  const exampleId = pipeline?.id ?? source?.id ?? null;
  const suggestions = useSuggestions(readable, packs, checked.check?.inputSchema, exampleId);
  const dirty = text !== base.text;
  const { kept, forget } = useDraft(draftName, dirty && !readOnly ? text : null, base.number);
  const [asking, setAsking] = useState<Asking | null>(null);
  const [removed, setRemoved] = useState<{ name: string; text: string } | null>(null);
  const [saved, setSaved] = useState<number | null>(null);
  const [goal, setGoal] = useState<Target | null>(null);
  const middle = useRef<HTMLDivElement>(null);
  const client = useClient();
  const navigate = useNavigate();

  const found = steps.findIndex(({ id }) => id !== "" && id === search.step);
  const [chosen, setChosen] = useState<At>(() => (found >= 0 ? found : "pipeline"));
  const at: At = chosen === "pipeline" || steps[chosen] === undefined ? "pipeline" : chosen;
  const yamlView = search.view === "yaml" || definition.unreadable !== null;
  const suggestionsAt = typeof at === "number" ? suggestions(at) : [];

  function select(next: At, view = search.view): void {
    setChosen(next);
    onSearch({ step: typeof next === "number" ? steps[next]?.id : undefined, view });
    if (view === "yaml" || yamlView) setGoal({ path: placeOfPart(next), focus: true });
  }

  function show(view: "form" | "yaml"): void {
    onSearch({ step: typeof at === "number" ? steps[at]?.id : undefined, view: view === "yaml" ? "yaml" : undefined });
    if (view === "yaml") setGoal({ path: placeOfPart(at), focus: false });
  }

  function edit(path: Path, value: unknown): void {
    change(setAt(text, path, value), path.join("/"));
  }

  /** Where an issue is: its step, then its field; in the YAML, its line. */
  function go({ path, line }: Issue): void {
    if (line === null) setChosen(path[0] === "steps" && path[1] !== undefined ? Number(path[1]) : "pipeline");
    setGoal({ path: [...path], line, focus: true });
  }

  useEffect(() => {
    if (goal === null || yamlView || !goal.focus) return;
    const [root, , section, name] = goal.path.map(String);
    const names =
      root === "steps"
        ? [name, section === "pack" ? "version" : section]
        : [goal.path.map(String)[2], goal.path.map(String)[1], root];
    for (const wanted of names) {
      const field =
        wanted === undefined
          ? null
          : middle.current?.querySelector<HTMLElement>(
              `[data-field="${CSS.escape(wanted)}"] :is(input, textarea, select)`,
            );
      if (field == null) continue;
      field.closest("details")?.setAttribute("open", "");
      field.scrollIntoView({ block: "center" });
      field.focus();
      return;
    }
  }, [goal, yamlView]);

  async function save(note: string, ifVersion = base.number): Promise<Problem | null> {
    const about = note === "" ? null : note;
    if (pipeline === null) {
      const { data, error } = await client.mutation(EditorCreateDocument, { yaml: text, note: about }).toPromise();
      const result = data?.createPipeline;
      if (error !== undefined) return problemOfCommand(error);
      if (result?.__typename !== "PipelineSuccess") return problemOf(result ?? {});
      forget();
      await navigate({
        to: "/pipelines/$pipeline/edit",
        params: { pipeline: result.pipeline.key },
        search: { step: search.step, view: search.view },
        replace: true,
      });
      return null;
    }
    const { data, error } = await client
      .mutation(EditorUpdateDocument, { pipeline: pipeline.id, yaml: text, ifVersion: ifVersion ?? 0, note: about })
      .toPromise();
    const result = data?.updatePipeline;
    if (error !== undefined) return problemOfCommand(error);
    if (
      result?.__typename === "ConflictProblem" &&
      result.current !== null &&
      "currentVersion" in result.current &&
      result.current.id === pipeline.id
    ) {
      setAsking({ kind: "conflict", theirs: result.current });
      return null;
    }
    if (result?.__typename !== "PipelineSuccess") return problemOf(result ?? {});
    const { number, yaml } = result.pipeline.currentVersion;
    forget();
    setBase({ number, text: yaml });
    change(yaml);
    setDraft(null);
    setAsking(null);
    setSaved(number);
    return null;
  }

  function takeTheirs(theirs: EditedPipelineFragment): void {
    forget();
    setBase({ number: theirs.currentVersion.number, text: theirs.currentVersion.yaml });
    change(theirs.currentVersion.yaml);
    setDraft(null);
    setAsking(null);
  }

  const errors = issues.filter(({ severity }) => severity === "ERROR").length;
  const canSave = !readOnly && (dirty || pipeline === null);
  const keys = useLatest((event: KeyboardEvent): void => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const typing =
      event.target instanceof HTMLElement &&
      (event.target.matches("input, textarea, select") || event.target.shadowRoot !== null);
    const key = event.key.toLowerCase();
    if (key === "s") {
      if (canSave && asking === null) setAsking({ kind: "save" });
    } else if (key === "z" && !typing && asking === null) (event.shiftKey ? redo : undo)();
    else return;
    event.preventDefault();
  });
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => keys.current(event);
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [keys]);

  const name =
    typeof readable.value["name"] === "string" && readable.value["name"] !== "" ? readable.value["name"] : null;
  const selected = typeof at === "number" ? steps[at] : undefined;
  return (
    <Page
      title={
        pipeline === null
          ? name === null
            ? "New pipeline"
            : `New pipeline: ${name}`
          : readOnly
            ? pipeline.name
            : `Edit ${pipeline.name}`
      }
      lead={
        <p className="text-dense" role="status">
          {pipeline === null ? null : (
            <>
              <Link to="/pipelines/$pipeline" params={{ pipeline: pipeline.key }} className="link font-mono">
                {pipeline.key}
              </Link>
              {" · "}
            </>
          )}
          {base.number === null ? "not saved yet" : `version ${base.number}`}
          {readOnly
            ? ""
            : dirty
              ? ` · unsaved changes${kept === true ? ", kept in this browser" : kept === false ? "; this browser cannot keep them" : ""}`
              : saved === null
                ? ""
                : ` · saved as version ${saved}`}
        </p>
      }
      actions={
        readOnly && pipeline !== null ? (
          <>
            <Views view={yamlView ? "yaml" : "form"} onView={show} />
            <MakeCopy pipelineId={pipeline.id} kind="primary" />
          </>
        ) : (
          <>
            <Icon label="Undo" hint="Undo (Ctrl-Z)" disabled={history.past.length === 0} onClick={undo}>
              <Undo2 aria-hidden="true" className="size-4" />
            </Icon>
            <Icon label="Redo" hint="Redo (Ctrl-Shift-Z)" disabled={history.future.length === 0} onClick={redo}>
              <Redo2 aria-hidden="true" className="size-4" />
            </Icon>
            <Views view={yamlView ? "yaml" : "form"} onView={show} />
            <Button kind="primary" disabled={!canSave} title="Ctrl-S" onClick={() => setAsking({ kind: "save" })}>
              Save…
            </Button>
          </>
        )
      }
    >
      {readOnly && pipeline !== null ? (
        <Strip>
          {pipeline.builtin
            ? "It ships with Packline and is read-only."
            : "Another user owns it, so you cannot edit it."}{" "}
          Make a copy to edit it.
        </Strip>
      ) : null}
      {proposal === undefined ? null : (
        <Strip>
          Drafted from{" "}
          {proposal.madeFrom.map(({ id, title }, index) => (
            <span key={id}>
              {index === 0 ? "" : ", then "}
              <Link to="/runs/$run" params={{ run: id }} className="link underline">
                {title}
              </Link>
            </span>
          ))}
          . It is not saved yet: review its steps and inputs, then save it.
        </Strip>
      )}
      {draft === null ? null : (
        <Strip
          action={
            <>
              <Button onClick={() => setDraft(null)}>Keep them</Button>
              <Button
                onClick={() => {
                  if (pipeline !== null) setBase({ number: pipeline.currentVersion.number, text: startText });
                  change(startText);
                  setDraft(null);
                }}
              >
                Discard them
              </Button>
            </>
          }
        >
          Your unsaved changes from <Timestamp at={draft.at} /> are restored.
          {pipeline !== null && draft.basedOn !== null && draft.basedOn !== pipeline.currentVersion.number
            ? ` They were made from version ${draft.basedOn}; it is at version ${pipeline.currentVersion.number} now, and saving shows you both.`
            : ""}
        </Strip>
      )}
      {removed === null || removed.text !== text ? null : (
        <Strip
          action={
            <Button
              onClick={() => {
                undo();
                setRemoved(null);
              }}
            >
              Undo
            </Button>
          }
        >
          The step {removed.name} is deleted.
        </Strip>
      )}
      {yamlView ? (
        <div className="space-y-3">
          <ContentBoundary what="The list of steps" of={[text]} source={() => text}>
            <StepStrip
              steps={steps}
              at={at}
              issues={shownIssues}
              stale={definition.unreadable !== null}
              readOnly={readOnly}
              onSelect={select}
              onAdd={() => setAsking({ kind: "add" })}
            />
          </ContentBoundary>
          {definition.unreadable === null ? null : (
            <NoForm checked={checked} message={definition.unreadable.message} onGo={go} />
          )}
          <Suspense fallback={<LazyFallback />}>
            <ContentBoundary what="The YAML editor" of={[yamlView]} source={() => text}>
              <YamlView
                text={text}
                onChange={(next) => change(next, "yaml")}
                issues={shownIssues}
                fresh={checked.fresh}
                suggestionsFor={suggestions}
                knowledge={{ definition: readable, packs, packNames }}
                onPlace={(step) => setChosen(step < 0 ? "pipeline" : step)}
                target={goal}
                readOnly={readOnly}
              />
            </ContentBoundary>
          </Suspense>
          {readOnly ? null : (
            <p className="text-meta text-soft">
              Ctrl-Space lists the keys, packs and values that fit; <code className="font-mono">{"${{"}</code> lists
              what a step may use. Tab leaves the editor.
            </p>
          )}
          <ContentBoundary what="What the check found" of={[checked.check]}>
            <CheckPanel checked={checked} quiet={untouched} steps={steps} onGo={go} />
          </ContentBoundary>
        </div>
      ) : (
        <div className="grid gap-x-7 gap-y-8 md:grid-cols-[14.5rem_minmax(0,1fr)] xl:grid-cols-[14.5rem_minmax(0,1fr)_16.5rem]">
          <div className="xl:sticky xl:top-4 xl:max-h-[calc(100vh-2rem)] xl:self-start xl:overflow-y-auto xl:p-0.5">
            <ContentBoundary what="The list of steps" of={[text]} source={() => text}>
              <StepList
                steps={steps}
                at={at}
                issues={shownIssues}
                readOnly={readOnly}
                onSelect={select}
                onMove={(from, to) => {
                  change(moveStep(text, from, to));
                  setChosen(to);
                }}
                onDuplicate={(index) => {
                  change(duplicateStep(text, index));
                  setChosen(index + 1);
                }}
                onRemove={(index) => {
                  const next = removeStep(text, index);
                  change(next);
                  setRemoved({ name: humanise(steps[index]?.id ?? ""), text: next });
                  setChosen(steps.length === 1 ? "pipeline" : Math.min(index, steps.length - 2));
                }}
                onAdd={() => setAsking({ kind: "add" })}
              />
            </ContentBoundary>
          </div>
          <div ref={middle} className="min-w-0">
            {selected === undefined || typeof at !== "number" ? (
              <ContentBoundary what="The form of the pipeline" of={[text]} source={() => text}>
                <PipelineForm
                  definition={definition}
                  issues={shownIssues}
                  inputSchema={checked.check?.inputSchema}
                  isNew={pipeline === null}
                  readOnly={readOnly}
                  onChange={edit}
                  onRenameInput={(old, next) => change(renameInput(text, old, next))}
                />
              </ContentBoundary>
            ) : (
              <ContentBoundary what="The form of this step" of={[text, at]} source={() => text}>
                <StepForm
                  key={`${at} ${selected.pack}`}
                  index={at}
                  step={selected}
                  pack={packs.get(selected.pack) ?? null}
                  text={text}
                  issues={issues}
                  suggestions={suggestionsAt}
                  readOnly={readOnly}
                  onChange={edit}
                  onRename={(id) => change(renameStep(text, at, id))}
                  onTest={() => setAsking({ kind: "test", index: at })}
                  onYaml={() => select(at, "yaml")}
                />
              </ContentBoundary>
            )}
          </div>
          <div className="md:col-start-2 xl:sticky xl:top-4 xl:col-start-3 xl:row-start-1 xl:max-h-[calc(100vh-2rem)] xl:self-start xl:overflow-y-auto">
            <ContentBoundary what="What the check found" of={[checked.check]}>
              <CheckPanel checked={checked} quiet={untouched} steps={steps} onGo={go} />
            </ContentBoundary>
          </div>
        </div>
      )}
      <Suspense fallback={<LazyDialogFallback onClose={() => setAsking(null)} />}>
        {asking?.kind === "add" ? (
          <AddStepDialog
            behind={
              steps.length === 0
                ? null
                : typeof at === "number"
                  ? humanise(steps[at]?.id ?? "")
                  : humanise(steps.at(-1)?.id ?? "")
            }
            onClose={() => setAsking(null)}
            onPick={(pack) => {
              const behind = typeof at === "number" ? at : steps.length - 1;
              const id = freeId(
                pack.name.split(".").at(-1) ?? pack.name,
                steps.map((step) => step.id),
              );
              const major = pack.version.split(".")[0] ?? "";
              change(
                addStep(text, behind, { id, pack: pack.name, ...(major === "" ? {} : { version: major }), input: {} }),
              );
              setChosen(behind + 1);
              setAsking(null);
            }}
          />
        ) : null}
        {asking?.kind === "save" ? (
          <SaveDialog
            isNew={pipeline === null}
            before={
              base.number !== null
                ? { text: base.text, name: `version ${base.number}` }
                : source === null
                  ? null
                  : { text: source.currentVersion.yaml, name: source.name }
            }
            text={text}
            errors={errors}
            onSave={(note) => save(note)}
            onClose={() => setAsking(null)}
          />
        ) : null}
        {asking?.kind === "conflict" ? (
          <ConflictDialog
            mine={text}
            theirs={{
              number: asking.theirs.currentVersion.number,
              yaml: asking.theirs.currentVersion.yaml,
              by: asking.theirs.currentVersion.createdBy?.name ?? null,
            }}
            basedOn={base.number ?? 0}
            onSaveOnTop={() =>
              save(`On top of version ${asking.theirs.currentVersion.number}`, asking.theirs.currentVersion.number)
            }
            onReload={() => takeTheirs(asking.theirs)}
            onClose={() => setAsking(null)}
          />
        ) : null}
        <Tried asking={asking} steps={steps} packs={packs} pipelineId={exampleId} onClose={() => setAsking(null)} />
      </Suspense>
    </Page>
  );
}

function placeOfPart(at: At): Path {
  return typeof at === "number" ? ["steps", at] : [];
}

/** Why there is no form: by the server's check where it has one, so that two parsers cannot disagree. */
function NoForm({
  checked: { check, fresh, problem },
  message,
  onGo,
}: {
  checked: Checked;
  message: string;
  onGo: (issue: Issue) => void;
}): ReactNode {
  const found = fresh ? check?.issues.find(({ line }) => line !== null) : undefined;
  return (
    <p className="text-dense text-fail" role="status">
      {found !== undefined ? (
        <>
          Fix{" "}
          <button type="button" className="link underline" onClick={() => onGo(found)}>
            line {found.line}
          </button>{" "}
          to return to the form.
        </>
      ) : problem === null && !fresh ? (
        "Fix the YAML to return to the form."
      ) : (
        `The form cannot show this YAML: ${message}.`
      )}
    </p>
  );
}

function Tried({
  asking,
  steps,
  packs,
  pipelineId,
  onClose,
}: {
  asking: Asking | null;
  steps: ReturnType<typeof useDefinition>["definition"]["steps"];
  packs: ReturnType<typeof usePacks>;
  pipelineId: string | null;
  onClose: () => void;
}): ReactNode {
  const step = asking?.kind === "test" ? steps[asking.index] : undefined;
  const pack = step === undefined ? undefined : packs.get(step.pack);
  return step === undefined || pack === undefined ? null : (
    <TestStepDialog step={step} pack={pack} pipelineId={pipelineId} onClose={onClose} />
  );
}

function Strip({ children, action }: { children: ReactNode; action?: ReactNode }): ReactNode {
  return (
    <div
      role="status"
      className="mb-4 flex flex-wrap items-center justify-between gap-x-6 gap-y-2 border-l-2 border-accent bg-accent-tint px-3 py-2"
    >
      <p>{children}</p>
      {action === undefined ? null : <div className="flex gap-2">{action}</div>}
    </div>
  );
}

function Icon({
  label,
  hint,
  disabled,
  onClick,
  children,
}: {
  label: string;
  hint: string;
  disabled: boolean;
  onClick: () => void;
  children: ReactNode;
}): ReactNode {
  return (
    <Button kind="quiet" className="!px-2" aria-label={label} title={hint} disabled={disabled} onClick={onClick}>
      {children}
    </Button>
  );
}

function Views({ view, onView }: { view: "form" | "yaml"; onView: (view: "form" | "yaml") => void }): ReactNode {
  return (
    <fieldset className="flex overflow-hidden rounded border border-control">
      <legend className="sr-only">Edit as</legend>
      {(["form", "yaml"] as const).map((one) => (
        <label
          key={one}
          className={`relative flex min-h-7.5 cursor-pointer items-center px-3 font-medium has-focus-visible:outline-2 has-focus-visible:-outline-offset-2 has-focus-visible:outline-accent pointer-coarse:min-h-11 ${view === one ? "bg-accent-tint text-accent" : "text-soft hover:bg-hover"}`}
        >
          <input type="radio" name="view" className="sr-only" checked={view === one} onChange={() => onView(one)} />
          {one === "form" ? "Form" : "YAML"}
        </label>
      ))}
    </fieldset>
  );
}
