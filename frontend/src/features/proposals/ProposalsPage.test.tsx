// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { show } from "../../testing/show.tsx";
import { ProposalsPage } from "./ProposalsPage.tsx";

afterEach(cleanup);

test("a proposal that another release saved can be deleted and does not hide the others", async () => {
  const saved = { createdAt: "2025-11-28T12:00:00Z", createdBy: { id: "caller_1", name: "Ada" } };
  const unreadable = { ...saved, id: "gap_2", userIntent: "Sing", issueText: null, issueInput: null, gap: null };
  const readable = {
    ...saved,
    id: "gap_1",
    userIntent: "water my plants",
    issueText: "New pack custom.water",
    issueInput: { title: "New pack custom.water", body: "" },
    gap: {
      missingCapability: "water my plants",
      whyMissing: "No pack does.",
      proposal: { action: "PROPOSE_PACK", name: "custom.water", summary: "A pack that does this.", packs: [] },
    },
  };
  const pageInfo = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };
  const { asked } = await show(
    <ProposalsPage />,
    {
      Proposals: { gapProposals: { totalCount: 2, nodes: [unreadable, readable], pageInfo } },
      DeleteProposal: { deleteGapProposal: { __typename: "DeleteSuccess", deletedId: "gap_2" } },
    },
    { path: "/proposals" },
  );

  expect(await screen.findByRole("listitem", { name: "Proposal custom.water" })).toBeVisible();
  const row = screen.getByRole("listitem", { name: "Proposal for Sing" });
  expect(row).toHaveTextContent("this one cannot read it");
  await userEvent.click(within(row).getByRole("button", { name: "Delete…" }));
  await userEvent.click(await screen.findByRole("button", { name: "Delete the proposal" }));
  expect(asked).toContainEqual({ name: "DeleteProposal", variables: { id: "gap_2" } });
});

const PAGE = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };

async function item(name: string) {
  return within(await screen.findByRole("listitem", { name: `Proposal ${name}` }));
}

function proposal(name: string, userIntent: string, missingCapability: string) {
  return {
    id: `gap_${name}`,
    userIntent,
    createdAt: "2026-11-20T10:00:00Z",
    issueText: "",
    issueInput: { title: name },
    createdBy: { id: "call_1", name: "Ada" },
    gap: {
      missingCapability,
      whyMissing: "No pack does this.",
      proposal: { action: "CREATE_PACK", name, summary: `Does \`${name}\` for you.`, packs: [] },
    },
  };
}

test("a proposal says what it would do and which request it is from, however the gap is worded", async () => {
  const nodes = [
    proposal("custom.fly", "book me a flight", "book me a flight"),
    proposal("custom.water", "water the plants, then translate", "water the plants"),
  ];
  await show(
    <ProposalsPage />,
    { Proposals: { gapProposals: { totalCount: 2, nodes, pageInfo: PAGE } } },
    { path: "/proposals" },
  );

  const fly = await item("custom.fly");
  expect(fly.getByText(/^Proposed pack/)).toHaveTextContent("Proposed pack custom.fly: Does custom.fly for you.");
  expect(fly.getByText("Saved from the request “book me a flight”.")).toBeVisible();
  const water = await item("custom.water");
  expect(water.getByText("Saved from the request “water the plants, then translate”.")).toBeVisible();
});

test("a long request is shortened where it names its proposal", async () => {
  const request = `water ${"my plants and ".repeat(1000)}sing`;
  const nodes = [
    { ...proposal("custom.water", request, request), gap: null },
    proposal("custom.sing", request, "sing"),
  ];
  await show(
    <ProposalsPage />,
    { Proposals: { gapProposals: { totalCount: 2, nodes, pageInfo: PAGE } } },
    { path: "/proposals" },
  );

  const row = await screen.findByRole("listitem", { name: /^Proposal for water .{1,200}…$/ });
  const sing = await item("custom.sing");
  expect(sing.getByText(/^Saved from the request “water .{1,200}…”\.$/)).toBeVisible();
  for (const each of [within(row), sing]) {
    await userEvent.click(each.getByText("The whole request"));
    expect(each.getByText(request, { selector: "details p" })).toBeVisible();
  }
  await userEvent.click(within(row).getByRole("button", { name: "Delete…" }));
  expect(await screen.findByText(/for “water .{1,200}…”\. You cannot undo this\./)).toBeVisible();
});
