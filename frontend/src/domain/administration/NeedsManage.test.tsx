// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, render, screen } from "@testing-library/react";
import { CombinedError } from "@urql/core";
import { afterEach, expect, test } from "vitest";

import { NeedsManage } from "./NeedsManage.tsx";

afterEach(cleanup);

test("who may not manage is led to an administrator, whichever way they signed in", () => {
  const error = new CombinedError({ graphQLErrors: [{ message: "No.", extensions: { code: "FORBIDDEN" } }] });
  render(<NeedsManage what="tokens" fetching={false} error={error} />);
  expect(screen.getByText(/^Only users/)).toHaveTextContent(
    "Only users who may manage the server see tokens. Ask an administrator for the scope manage.",
  );
});
