import { defineConfig } from "vite";

// Relative addresses, so that the page works behind a proxy that adds a path.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../../app/ui_dist/graphiql",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    // The editor is one large chunk, loaded only by this page.
    chunkSizeWarningLimit: 6000,
    rolldownOptions: {
      onLog(level, log, report) {
        // Libraries mark modules "use client" for server rendering, which there is none of here.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") {
          report(level, log);
        }
      },
    },
  },
  worker: { format: "es" },
});
