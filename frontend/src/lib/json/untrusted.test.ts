import { expect, test } from "vitest";

import { decoded, encoded, jsonOf, own, readJson } from "./untrusted.ts";

test("a name that every object has means nothing until somebody gives it", () => {
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty", ""]) {
    expect(own({}, name)).toBeUndefined();
    expect(own(undefined, name)).toBeUndefined();
    expect(own(null, name)).toBeUndefined();
    expect(own(Object.fromEntries([[name, "tea"]]), name)).toBe("tea");
  }
});

test("unreadable texts and values return null instead of throwing", () => {
  expect(readJson("null")).toEqual({ json: null });
  expect(readJson("{")).toBeNull();
  expect(readJson('"\\q"')).toBeNull();
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(jsonOf(deep)).toBeNull();
  expect(jsonOf(10n)).toBeNull();
  expect(jsonOf({ a: 1 }, 0)).toBe('{"a":1}');
});

test("parts of addresses survive what has no encoding", () => {
  expect(decoded("a%20b")).toBe("a b");
  expect(decoded("100%")).toBe("100%");
  expect(decoded("%E0%A4%A")).toBe("%E0%A4%A");
  expect(encoded("a b")).toBe("a%20b");
  expect(encoded("tea 🍵")).toBe("tea%20%F0%9F%8D%B5");
  expect(encoded("half \ud83c")).toBe("half%20%EF%BF%BD");
});

/** What throws at texts of others, and the modules that may use it since they catch that, or give it texts of our own. */
const THROWING: Record<string, { call: RegExp; in: readonly string[] }> = {
  "JSON.parse": {
    call: /\bJSON\.parse\(/,
    in: [
      "app/prefetch.ts",
      "lib/json/untrusted.ts",
      "lib/server/prefetch.ts",
      "lib/server/client.ts",
      "domain/runs/listNavigation.ts",
      "lib/server/sse.ts",
      "lib/hooks/useDebounced.ts",
      "features/ask/useRoute.ts",
      "features/audit/actions.ts",
      "features/editor/definition/useDraft.ts",
      "features/runs/views.ts",
    ],
  },
  decodeURIComponent: { call: /\bdecodeURI(Component)?\(/, in: ["lib/json/untrusted.ts"] },
  encodeURIComponent: { call: /\bencodeURI(Component)?\(/, in: ["lib/json/untrusted.ts", "domain/runs/useFavicon.ts"] },
  "a date formatter": {
    call: /\bnew Intl\.DateTimeFormat\(/,
    in: ["app/prefetch.ts", "lib/text/format.ts", "lib/time/zone.ts"],
  },
  toISOString: {
    call: /\.toISOString\(/,
    in: [
      "features/audit/search.ts",
      "features/credentials/CredentialForm.tsx",
      "features/editor/definition/useDraft.ts",
      "features/runs/filter.ts",
      "features/settings/Appearance.tsx",
      "features/tokens/expiry.ts",
    ],
  },
  "new URL": { call: /\bnew URL\(/, in: ["lib/server/prefetch.ts", "lib/server/client.ts"] },
  "a pattern made from text": { call: /\bnew RegExp\(/, in: ["app/pageParts.ts"] },
  structuredClone: { call: /\bstructuredClone\(/, in: [] },
  BigInt: { call: /\bBigInt\(/, in: [] },
  "HTML made from text": { call: /dangerouslySetInnerHTML=|\.innerHTML\b/, in: ["features/artifacts/Markdown.tsx"] },
};

test.each(Object.entries(THROWING))("%s is used only where it cannot end a page", (_, { call, in: known }) => {
  const sources = import.meta.glob<string>("../../**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });
  const found = Object.entries(sources)
    .filter(([path, text]) => !/\.(test|generated)\.tsx?$/.test(path) && call.test(text))
    .map(([path]) => path.replace("../../", "").replace("../", "lib/").replace(/^\.\//, "lib/json/"));
  expect(Object.keys(sources).length).toBeGreaterThan(200);
  expect(found.sort()).toEqual([...known].sort());
});
