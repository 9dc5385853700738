import { expect, test } from "vitest";

import { partOf } from "./pageParts.ts";
// Its text.
// oxlint-disable-next-line import/default
import ROUTER from "./router.tsx?raw";

/** What the router loads on first use, by the name it has there. */
const LAZY = new Map(
  [...ROUTER.matchAll(/const (\w+) = lazyLoad\(\(\) => import\("\.\.\/features\/(.+?)\.tsx"\)\)/g)].map((found) => [
    found[1],
    found[2],
  ]),
);
const ROUTES = [...ROUTER.matchAll(/path: "([^"]+)",\s+component: lazyComponent\((\w+),/g)];

test("the part of every route is known before the router is", () => {
  expect(ROUTES.length).toBeGreaterThan(20);
  expect(ROUTES.map(([, path = ""]) => [path, partOf(path.replaceAll(/\$\w+/g, "x"))])).toEqual(
    ROUTES.map(([, path, lazy]) => [path, LAZY.get(lazy)]),
  );
});

test("an address without a part of its own has none", () => {
  expect([partOf("/"), partOf("/runs"), partOf("/runs/x"), partOf("/nothing")]).toEqual(Array(4).fill(undefined));
});
