// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";
import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { show } from "../../testing/show.tsx";
import { ImportDialog } from "./ImportDialog.tsx";

afterEach(cleanup);

function change(created: boolean) {
  const trigger = { triggerId: created ? "trig_1" : null, secret: created ? "shown only once" : null };
  return {
    __typename: "PipelineChange",
    key: "tea",
    action: "KEEP",
    diff: "+  - name: Pushes",
    warnings: [],
    triggers: [
      { __typename: "TriggerChange", name: "Pushes", action: "CREATE", ...trigger },
      { __typename: "TriggerChange", name: "Old", action: "DELETE", triggerId: "trig_2", secret: null },
      { __typename: "TriggerChange", name: "Same", action: "KEEP", triggerId: "trig_3", secret: null },
    ],
  };
}

test("an import says what becomes of triggers, and shows the secret of a new webhook once", async () => {
  await show(<ImportDialog onClose={() => undefined} />, {
    ImportPipelines: ({ dryRun }: { dryRun: boolean }) => ({
      applyPipelines: { __typename: "ApplyPipelinesSuccess", changes: [change(!dryRun)] },
    }),
  });
  await userEvent.type(screen.getByRole("textbox"), "key: tea");
  await userEvent.click(screen.getByRole("button", { name: "Preview changes" }));
  const changes = await screen.findByRole("status", { name: "Changes" });
  expect(changes).toHaveTextContent("The trigger Pushes is new.");
  expect(changes).toHaveTextContent("The trigger Old is deleted, because the list does not name it.");
  expect(changes).not.toHaveTextContent("Same");
  expect(screen.getByRole("region", { name: "What changes in tea" })).toHaveTextContent("name: Pushes");
  await userEvent.click(screen.getByRole("button", { name: "Save the triggers" }));
  expect(await screen.findByText("shown only once")).toBeVisible();
  expect(screen.getByRole("button", { name: "Copy secret of Pushes" })).toBeVisible();
});
