import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMutation, useQuery } from "urql";

import { Button, ButtonLink } from "../../components/Button.tsx";
import { Confirm } from "../../components/Confirm.tsx";
import { CopyButton } from "../../components/CopyButton.tsx";
import { SearchBox } from "../../components/Filters.tsx";
import { useFocusInside } from "../../lib/browser/focus.ts";
import { AdminNav } from "../../domain/administration/AdminNav.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { outcomeOf, type Problem } from "../../lib/server/problem.ts";
import { Empty, Page, Section } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { Notice } from "../../components/Notice.tsx";
import { NeedsManage } from "../../domain/administration/NeedsManage.tsx";
import { useNow } from "../../lib/time/clock.ts";
import { tokenStatus } from "./expiry.ts";
import { type Made, TokenForm } from "./TokenForm.tsx";
import {
  DisableCallerDocument,
  type DisableCallerMutation,
  EnableCallerDocument,
  RevokeTokenDocument,
  type TokenRowFragment,
  TokensDocument,
  type TokensQuery,
} from "./tokens.generated.ts";

/** Callers per page; each comes with its tokens. */
const CALLERS = 20;

export function TokensPage(): ReactNode {
  const search = useSearch({ from: "/tokens" });
  const navigate = useNavigate({ from: "/tokens" });
  const [{ data, fetching, error }, again] = useQuery({
    query: TokensDocument,
    variables: { text: search.q ?? null, ...pageArguments(search, CALLERS) },
  });
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<Made | null>(null);
  return (
    <Page
      title="Tokens"
      lead="Who may call this server, and the bearer tokens agents and scripts call with."
      actions={
        data === undefined ? null : (
          <Button kind="primary" hidden={making} onClick={() => setMaking(true)}>
            Create a token
          </Button>
        )
      }
    >
      <AdminNav />
      {data === undefined ? (
        <NeedsManage what="tokens" fetching={fetching} error={error} />
      ) : (
        <>
          {made === null ? null : <Once made={made} onDone={() => setMade(null)} />}
          {making ? (
            <Section title="Create a token">
              <TokenForm
                viewer={data.viewer}
                onCancel={() => setMaking(false)}
                onMade={(token) => {
                  setMade(token);
                  setMaking(false);
                  again({ requestPolicy: "network-only" });
                }}
              />
            </Section>
          ) : null}
          <div className="mb-3">
            <SearchBox
              label="Search callers"
              text={search.q ?? ""}
              onSearch={(q) => void navigate({ search: { q: q === "" ? undefined : q }, replace: true })}
            />
          </div>
          {data.callers.nodes.length === 0 ? (
            <Empty
              action={
                <ButtonLink to="/tokens" search={{}}>
                  All callers
                </ButtonLink>
              }
            >
              No caller has this name.
            </Empty>
          ) : (
            <>
              {data.callers.nodes.map((caller) => (
                <CallerTokens key={caller.id} caller={caller} isMe={caller.id === data.viewer.id} />
              ))}
              <Pager info={data.callers.pageInfo} place={search} />
            </>
          )}
        </>
      )}
    </Page>
  );
}

/** Shows a new token once; the server stores only its hash. */
function Once({ made, onDone }: { made: Made; onDone: () => void }): ReactNode {
  return (
    <section
      ref={useFocusInside()}
      tabIndex={-1}
      aria-label="New token"
      className="mb-6 rounded border border-ok bg-ok-tint px-4 py-3"
    >
      <p className="font-medium">The token “{made.name}” is ready. Copy it now: Packline does not show it again.</p>
      <div className="my-2 flex flex-wrap items-center gap-2">
        <code className="rounded border border-line bg-page px-2 py-1 font-mono text-dense wrap-anywhere">
          {made.plaintext}
        </code>
        <CopyButton text={made.plaintext} what="token" />
      </div>
      <Button onClick={onDone}>Done</Button>
    </section>
  );
}

type CallerRow = TokensQuery["callers"]["nodes"][number];
type Disabled = Extract<DisableCallerMutation["disableCaller"], { __typename: "DisableCallerSuccess" }>;
type Left = Disabled["tokensForOthers"];

/** What the server lists of the tokens that a disabled caller made for others. */
const MOST_LEFT = 100;

function CallerTokens({ caller, isMe }: { caller: CallerRow; isMe: boolean }): ReactNode {
  const [left, setLeft] = useState<Left>([]);
  return (
    <section className="mb-7">
      <div className="mb-1 flex flex-wrap items-baseline gap-x-4">
        <h2 className="wrap-anywhere">{caller.name}</h2>
        <p className="text-dense text-soft">
          {caller.disabledAt === null ? null : (
            <>
              <strong className="font-medium text-fail">
                disabled <Timestamp at={caller.disabledAt} relative />
              </strong>
              {" · "}
            </>
          )}
          {isMe ? "you · " : ""}
          {caller.subject === caller.name ? "" : `${caller.subject} · `}
          {caller.lastSeenAt === null ? (
            "never called"
          ) : (
            <>
              last called <Timestamp at={caller.lastSeenAt} relative />
            </>
          )}
          {caller.scopes.length === 0 ? "" : ` · may ${words(caller.scopes)}`}
          {caller.fromProvider ? " · signs in at the provider" : ""}
        </p>
        {isMe ? null : <Access caller={caller} onLeft={setLeft} />}
      </div>
      {left.length === 0 ? null : (
        <div className="my-3 border-l-2 border-warn bg-warn-tint px-3 py-2">
          <p className="mb-1 font-medium">
            {caller.name} made tokens for others. They still work: revoke those that you do not trust.
          </p>
          <Table
            tokens={left}
            ownerId={caller.id}
            label={`Tokens that ${caller.name} made for others`}
            whose={new Map(left.map(({ id, caller: { name } }) => [id, name]))}
            onRevoked={(id) => setLeft(left.filter((token) => token.id !== id))}
          />
          {left.length < MOST_LEFT ? null : (
            <p className="mt-1 text-dense text-soft">
              The {MOST_LEFT} newest; there may be more. Revoke these, enable the caller and disable it again to list
              them.
            </p>
          )}
        </div>
      )}
      {caller.tokens.nodes.length === 0 ? (
        <p className="text-dense text-soft">No token. {isMe ? "You are signed in with a browser." : ""}</p>
      ) : (
        <Table tokens={caller.tokens.nodes} ownerId={caller.id} label={`Tokens of ${caller.name}`} />
      )}
      {caller.tokens.pageInfo.hasNextPage ? (
        <p className="mt-1 text-dense text-soft">The 20 newest. Older ones: packline token list.</p>
      ) : null}
    </section>
  );
}

/** Disables a caller, after a question, or enables it again. */
function Access({ caller, onLeft }: { caller: CallerRow; onLeft: (left: Left) => void }): ReactNode {
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [, disable] = useMutation(DisableCallerDocument);
  const [{ fetching }, enable] = useMutation(EnableCallerDocument);

  async function end(): Promise<Problem | null> {
    const answer = await disable({ caller: caller.id });
    const { done, refusal } = outcomeOf(answer.error, answer.data?.disableCaller, "DisableCallerSuccess");
    if (done !== null) onLeft(done.tokensForOthers);
    return refusal;
  }

  async function restore(): Promise<void> {
    const answer = await enable({ caller: caller.id });
    const { done, refusal } = outcomeOf(answer.error, answer.data?.enableCaller, "EnableCallerSuccess");
    if (done !== null) onLeft([]);
    setProblem(refusal);
  }

  if (caller.disabledAt !== null) {
    return (
      <>
        <button
          type="button"
          className="link text-dense"
          aria-label={`Enable ${caller.name}`}
          disabled={fetching}
          onClick={() => void restore()}
        >
          Enable
        </button>
        <Notice problem={problem} />
      </>
    );
  }
  return (
    <>
      <button
        type="button"
        className="link text-dense"
        aria-label={`Disable ${caller.name}`}
        onClick={() => setAsking(true)}
      >
        Disable…
      </button>
      {asking ? (
        <Confirm
          title={`Disable ${caller.name}?`}
          word="Disable"
          keep="Cancel"
          onClose={() => setAsking(false)}
          onConfirm={end}
        >
          <p>
            Tokens and logins stop working at once, connections close, triggers pause, and runs that have begun are
            cancelled.
          </p>
          <p>Tokens that it made for others keep working. They are listed afterwards, so that you can revoke them.</p>
          <p className="text-soft">Queued runs wait. When you enable the caller, they start and its triggers resume.</p>
        </Confirm>
      ) : null}
    </>
  );
}

function words(scopes: readonly string[]): string {
  return scopes.map((scope) => scope.toLowerCase()).join(", ");
}

/** Names the maker of a token if that is another caller than the one who uses it. */
function maker({ madeBy }: TokenRowFragment, ownerId: string): string {
  if (madeBy === null || madeBy.id === ownerId) return "";
  return `made by ${madeBy.name}${madeBy.disabledAt === null ? "" : " (disabled)"}`;
}

function Table({
  tokens,
  ownerId,
  label,
  whose,
  onRevoked,
}: {
  tokens: readonly TokenRowFragment[];
  ownerId: string;
  label: string;
  /** The callers of tokens of several, by the token's id. */
  whose?: ReadonlyMap<string, string>;
  onRevoked?: (id: string) => void;
}): ReactNode {
  const now = useNow(false);
  const [ending, setEnding] = useState<TokenRowFragment | null>(null);
  const [, revoke] = useMutation(RevokeTokenDocument);

  async function end(token: TokenRowFragment): Promise<Problem | null> {
    const answer = await revoke({ id: token.id });
    const { done, refusal } = outcomeOf(answer.error, answer.data?.revokeToken, "RevokeTokenSuccess");
    if (done !== null) onRevoked?.(token.id);
    return refusal;
  }

  return (
    <>
      <table className="w-full table-fixed border-collapse text-dense max-md:block" aria-label={label}>
        <thead className="max-md:sr-only">
          <tr className="border-b border-line text-left text-meta text-soft [&>th]:py-1.5 [&>th]:pr-4 [&>th]:font-medium">
            <th className="w-[20%] max-xl:w-[24%]">Name</th>
            <th className="w-32 max-xl:w-24">Begins with</th>
            <th>May</th>
            <th className="w-28 max-xl:w-24">Last used</th>
            <th className="w-40 max-xl:w-32">Works until</th>
            <th className="w-20">
              <span className="sr-only">Act</span>
            </th>
          </tr>
        </thead>
        <tbody className="max-md:block">
          {tokens.map((token) => {
            const standing = tokenStatus(token, now);
            const by = whose === undefined ? maker(token, ownerId) : `for ${whose.get(token.id) ?? "another caller"}`;
            return (
              <tr
                key={token.id}
                className={`row border-b border-line max-md:flex max-md:flex-wrap max-md:gap-x-3 max-md:py-2 md:h-9 [&>td]:pr-4 md:[&>td]:py-1 max-md:[&>td]:pr-0 ${standing === "works" ? "" : "text-soft"}`}
              >
                <td className="font-medium max-md:w-full">
                  <p className="truncate md:max-xl:wrap-anywhere md:max-xl:whitespace-normal" title={token.name}>
                    {token.name}
                  </p>
                  {by === "" ? null : (
                    <p className="truncate text-meta font-normal text-soft" title={by}>
                      {by}
                    </p>
                  )}
                </td>
                <td className="truncate font-mono text-meta text-soft">{token.beginning}…</td>
                <td className="text-soft" title={words(token.scopes)}>
                  {words(token.scopes)}
                </td>
                <td className="text-soft">
                  {token.lastUsedAt === null ? (
                    "never used"
                  ) : (
                    <>
                      <span className="md:hidden">used </span>
                      <Timestamp at={token.lastUsedAt} relative />
                    </>
                  )}
                </td>
                <td className="text-soft">
                  {token.revokedAt !== null ? (
                    <>
                      revoked <Timestamp at={token.revokedAt} relative />
                    </>
                  ) : token.expiresAt === null ? (
                    <>
                      <span className="md:hidden">works until </span>it is revoked
                    </>
                  ) : (
                    <>
                      {standing === "expired" ? "expired " : <span className="md:hidden">works until </span>}
                      <Timestamp at={token.expiresAt} relative />
                    </>
                  )}
                </td>
                <td className="text-right max-md:ml-auto">
                  {standing === "works" ? (
                    <button
                      type="button"
                      className="link"
                      aria-label={`Revoke ${token.name}`}
                      onClick={() => setEnding(token)}
                    >
                      Revoke…
                    </button>
                  ) : null}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {ending === null ? null : (
        <Confirm
          title={`Revoke the token “${ending.name}”?`}
          word="Revoke it"
          keep="Cancel"
          onClose={() => setEnding(null)}
          onConfirm={() => end(ending)}
        >
          <p>It stops working at once, and its connections close. Runs it started continue.</p>
          <p className="text-soft">You cannot undo this. Create a new token instead.</p>
        </Confirm>
      )}
    </>
  );
}
