// Renders a part of the page for a test, in its own router, with a fake server that answers by operation name.

import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router";
import { configure, render } from "@testing-library/react";
import { Client, type Exchange, makeErrorResult, makeResult, type Operation } from "@urql/core";
import type { ReactNode } from "react";
import { Provider } from "urql";
import { filter, fromPromise, mergeMap, pipe } from "wonka";

// A loaded machine is slow, not wrong.
configure({ asyncUtilTimeout: 20_000 });

/** Data with the response's extensions. */
export class With {
  readonly data: Record<string, unknown>;
  readonly extensions: Record<string, unknown>;
  constructor(data: Record<string, unknown>, extensions: Record<string, unknown>) {
    this.data = data;
    this.extensions = extensions;
  }
}

/**
 * What an operation is answered: its data, or what makes it from its variables; either may be a promise. An Error is a
 * lost connection.
 */
export type Answers = Readonly<Record<string, unknown>>;

export interface Asked {
  name: string;
  variables: Readonly<Record<string, unknown>>;
}

interface Place {
  /** The route the part belongs to, and how it reads its search. */
  path?: string;
  /** The address with its search, the route's own when left out. */
  at?: string;
  search?: (given: Record<string, unknown>) => object;
}

/** Shows a part of the page; resolves once it is there, to what it asked for so far and goes on to ask for. */
export async function show(
  part: ReactNode,
  answers: Answers = {},
  { path = "/", at = path, search = (given) => given }: Place = {},
) {
  const asked: Asked[] = [];
  const root = createRootRoute({ component: Outlet });
  const route = createRoute({ getParentRoute: () => root, path, component: () => part, validateSearch: search });
  // Every path has a route, so that links resolve.
  const rest = createRoute({ getParentRoute: () => root, path: "$", component: () => null });
  const history = createMemoryHistory({ initialEntries: [at] });
  const router = createRouter({ routeTree: root.addChildren([route, rest]), history });
  const client = new Client({
    url: "http://server.test/graphql",
    preferGetMethod: false,
    exchanges: [answering(answers, asked)],
  });
  await router.load();
  const shown = render(
    <Provider value={client}>
      <RouterProvider router={router as never} />
    </Provider>,
  );
  return { ...shown, asked, history };
}

function answering(answers: Answers, asked: Asked[]): Exchange {
  return () => (operations) =>
    pipe(
      operations,
      filter(({ kind }) => kind !== "teardown"),
      mergeMap((operation) => fromPromise(answer(operation))),
    );

  async function answer(operation: Operation) {
    const [first] = operation.query.definitions;
    const name = first !== undefined && "operation" in first && "name" in first ? (first.name?.value ?? "") : "";
    const variables = operation.variables as Record<string, unknown>;
    asked.push({ name, variables });
    const given = answers[name];
    const data: unknown = await (typeof given === "function"
      ? (given as (variables: Record<string, unknown>) => unknown)(variables)
      : given);
    if (data === undefined) return makeErrorResult(operation, new Error(`The test answers nothing to ${name}.`));
    if (data instanceof With)
      return makeResult(operation, { data: data.data, extensions: data.extensions, hasNext: false });
    return data instanceof Error ? makeErrorResult(operation, data) : makeResult(operation, { data, hasNext: false });
  }
}
