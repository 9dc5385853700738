// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { createMemoryHistory, createRootRoute, createRouter } from "@tanstack/react-router";
import { screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";

vi.mock("../lib/server/lazyLoad.ts", async (original) => ({ ...(await original<object>()), loadAhead: vi.fn() }));
vi.mock("./router.tsx", () => ({
  router: createRouter({
    routeTree: createRootRoute({ component: () => "Here" }),
    history: createMemoryHistory(),
  }),
}));

test("the page is rendered although its first load fails", async () => {
  const { router } = await import("./router.tsx");
  const fault = vi.spyOn(console, "error").mockReturnValue();
  vi.spyOn(router, "load").mockRejectedValueOnce(new Error("lost"));
  document.body.innerHTML = '<div id="root"></div>';
  await import("./main.tsx");
  expect(await screen.findByText("Here")).toBeVisible();
  expect(fault).toHaveBeenCalledWith(new Error("lost"));
});
