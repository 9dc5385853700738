// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";

// Its text: the script that runs before anything is painted cannot import the paths.
// oxlint-disable-next-line import/default
import THEME from "../../public/theme.js?raw";
import { pageAt, PAGES, preloadPage } from "./pageParts.ts";

afterEach(() => {
  document.head.replaceChildren();
  history.replaceState(null, "", "/");
});

test("every page is found at its addresses, and a fixed name goes before a placeholder", () => {
  const paths = Object.keys(PAGES);
  expect(paths.map((path) => pageAt(path.replaceAll(/\$\w+/g, "x-1.y")))).toEqual(paths);
  expect(pageAt("/runs/compare")).toBe("/runs/compare");
  expect(pageAt("/pipelines/new")).toBe("/pipelines/new");
});

test("an address without parts of its own has none", () => {
  expect(["/", "/nothing", "/runs/1/2", "/pipelines/"].map(pageAt)).toEqual(Array(4).fill(undefined));
});

test("the tabs of a step load next to the page of a run", () => {
  const files = {
    "run/RunPage": ["run.js", "both.js"],
    "run/step/StepTabs": ["both.js", "tabs.js"],
    "audit/AuditPage": ["no"],
  };
  preloadPage("/runs/$run", files, "/assets/");
  const links = [...document.head.querySelectorAll<HTMLLinkElement>("link[rel=modulepreload]")];
  expect(links.map(({ href }) => new URL(href).pathname)).toEqual([
    "/assets/run.js",
    "/assets/both.js",
    "/assets/tabs.js",
  ]);
});

test("the first paint leaves the window free for a file, and for no other page", () => {
  for (const path of Object.keys(PAGES)) {
    delete document.documentElement.dataset["bare"];
    history.replaceState(null, "", path.replaceAll(/\$\w+/g, "x"));
    // oxlint-disable-next-line no-new-func, typescript/no-implied-eval
    new Function(THEME)();
    expect([path, "bare" in document.documentElement.dataset]).toEqual([path, path === "/artifacts/$artifact"]);
  }
});
