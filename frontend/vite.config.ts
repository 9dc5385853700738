import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import subsetFont from "subset-font";
import type { Plugin, Rolldown } from "vite";
import { defineConfig } from "vitest/config";

import { PAGES } from "./src/app/pageParts.ts";
import { ShellSkeleton } from "./src/app/ShellSkeleton.tsx";

const server = process.env["PACKLINE_URL"] ?? "http://127.0.0.1:8420";

/** The version of this page; the server sends its own. */
const version =
  /^version = "(.+)"$/m.exec(readFileSync(join(import.meta.dirname, "../pyproject.toml"), "utf-8"))?.[1] ?? "";

/** Files smaller than this gain nothing. */
const WORTH_BYTES = 1024;

/** Writes a `.br` next to every file of the build that gets smaller. */
function brotli(): Plugin {
  return {
    name: "brotli",
    apply: "build",
    writeBundle({ dir }) {
      const folder = join(dir ?? "", "assets");
      for (const name of readdirSync(folder)) {
        const content = readFileSync(join(folder, name));
        if (!/\.(js|css|svg)$/.test(name) || content.length < WORTH_BYTES) continue;
        const parameters = {
          [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
        };
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params: parameters }));
      }
    },
  };
}

/** The weights and features of Inter that the page uses: those that browsers turn on, but `calt`, and `tabular-nums`. */
const OF_FONT = {
  targetFormat: "woff2" as const,
  variationAxes: { wght: { min: 400, max: 700 } },
  keepFeatures: ["ccmp", "locl", "rlig", "liga", "clig", "rclt", "kern", "mark", "mkmk", "tnum"],
};

/** The characters of ranges as CSS writes them: `U+0131, U+0152-0153`. */
function charactersIn(ranges: string): string {
  let characters = "";
  for (const [, first = "", last = first] of ranges.matchAll(/U\+([0-9A-F]+)(?:-([0-9A-F]+))?/g)) {
    for (let code = parseInt(first, 16); code <= parseInt(last, 16); code++) characters += String.fromCodePoint(code);
  }
  return characters;
}

/** Reduces the file of Inter that every page fetches to what the page uses, with every character. */
function font(): Plugin {
  const given = "node_modules/@fontsource-variable/inter";
  const name = "files/inter-latin-wght-normal.woff2";
  const reduced = "node_modules/.vite/inter-latin-wght-normal.woff2";
  const path = join(import.meta.dirname, reduced);
  return {
    name: "font",
    apply: "build",
    config: () => ({ resolve: { alias: { [`@fontsource-variable/inter/${name}`]: path } } }),
    async buildStart() {
      const read = (file: string) => readFileSync(join(import.meta.dirname, given, file));
      const { latin } = JSON.parse(read("unicode.json").toString()) as { latin: string };
      const content = await subsetFont(read(name), charactersIn(latin), OF_FONT);
      // Not overwritten: trees may share their modules through hard links.
      rmSync(path, { force: true });
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    },
    transformIndexHtml: { order: "pre", handler: (html) => html.replace(`${given}/${name}`, reduced) },
  };
}

/** Puts the shell into the page as it is painted before the scripts have loaded. */
function skeleton(): Plugin {
  return {
    name: "skeleton",
    transformIndexHtml: (html) =>
      html.replace(
        "<!-- The build puts the shell here. -->",
        // Within HTML an icon needs no namespace.
        renderToStaticMarkup(createElement(ShellSkeleton)).replaceAll(' xmlns="http://www.w3.org/2000/svg"', ""),
      ),
  };
}

/** The files of each part of a page, besides those of every page, by the part's name in `PAGES`. */
function partsOf(bundle: Rolldown.OutputBundle): Record<string, string[]> {
  const chunkOf = (name: string) => {
    const file = bundle[name];
    return file?.type === "chunk" ? file : undefined;
  };
  const withImports = (name: string, found: Set<string>): Set<string> => {
    if (!found.has(name)) for (const one of chunkOf(name)?.imports ?? []) withImports(one, found.add(name));
    return found.add(name);
  };
  const first = new Set<string>();
  for (const file of Object.values(bundle)) {
    if (file.type === "chunk" && file.isEntry) withImports(file.fileName, first);
  }
  const parts: Record<string, string[]> = {};
  for (const part of new Set(Object.values(PAGES).flat())) {
    const file = Object.values(bundle).find(
      (one) =>
        one.type === "chunk" &&
        one.isDynamicEntry &&
        one.facadeModuleId?.endsWith(`/src/features/${part}.tsx`) === true,
    );
    if (file === undefined) throw new Error(`The build has no script for \`${part}\`, which pageParts.ts names.`);
    const files = [...withImports(file.fileName, new Set())].filter((name) => !first.has(name));
    parts[part] = files.map((name) => basename(name)).toSorted();
  }
  return parts;
}

/**
 * Adds the prefetch script to the page; listed in index.html, Vite would merge it with the main script. The main
 * script loads after the styles, since the shell waits for those.
 */
function scripts(): Plugin {
  return {
    name: "scripts",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle = {} }) {
        const chunk = Object.values(bundle).find(
          (file) => file.type === "chunk" && file.isEntry && file.name === "prefetch",
        );
        if (chunk === undefined) throw new Error("The build has no script `prefetch`.");
        const tags = [
          {
            tag: "script",
            // Data, which the content policy does not run.
            attrs: { type: "application/json", id: "parts" },
            children: JSON.stringify(partsOf(bundle)),
            injectTo: "head",
          },
          {
            tag: "script",
            attrs: { type: "module", async: true, crossorigin: true, src: `./${chunk.fileName}` },
            injectTo: "head",
          },
        ] as const;
        const main = '<script type="module"';
        if (!html.includes(main)) throw new Error(`The build has no \`${main}\` in its page.`);
        return { html: html.replace(main, `${main} fetchpriority="low"`), tags: [...tags] };
      },
    },
  };
}

export default defineConfig({
  // Relative, so that one build works below any path.
  base: "./",
  // The generated documents import their tag from everywhere.
  resolve: { alias: { "packline-gql": join(import.meta.dirname, "src/lib/server/gql.ts") } },
  plugins: [react(), tailwindcss(), font(), skeleton(), scripts(), brotli()],
  define: { PACKLINE_VERSION: JSON.stringify(version) },
  build: {
    outDir: "../app/ui_dist/page",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    manifest: true,
    // Browsers without modulepreload load the parts later, which is fine.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: "index.html", prefetch: "src/app/prefetch.ts" },
      output: {
        codeSplitting: {
          groups: [
            // Shared by the prefetch script and the main one, so that neither waits for the other's file.
            {
              name: "shared",
              test: /\/src\/(app\/pageParts|lib\/server\/prefetch|lib\/server\/base|lib\/json\/untrusted|features\/home\/checklist)\.ts$/,
              priority: 1,
            },
            // What every page needs is one file: browsers ask for six at a time, and each costs a round trip.
            { name: "every-page", tags: ["$initial"], test: (id) => !/\/src\/app\/(main|prefetch)/.test(id) },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      "/graphql": { target: server, ws: true },
      "/artifacts": {
        target: server,
        bypass: ({ url }) => (url?.startsWith("/artifacts/") === true ? undefined : url),
      },
      "/login": server,
    },
  },
  // Patient: a test that types a form takes a second, and ten on a machine with other work.
  test: {
    css: true,
    include: ["src/**/*.test.{ts,tsx}"],
    // Modules are loaded once for all files of a process: to load them for each took two thirds of the time.
    isolate: false,
    setupFiles: ["src/testing/setup.ts"],
    restoreMocks: true,
    unstubGlobals: true,
    testTimeout: 60_000,
  },
});
