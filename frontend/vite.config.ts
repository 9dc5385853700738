import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = process.env["PACKLINE_URL"] ?? "http://127.0.0.1:8420";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    outDir: "../app/ui_dist/page",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    manifest: true,
  },
  server: {
    proxy: {
      "/graphql": { target: server, ws: true },
      "/artifacts": { target: server, bypass: ({ url }) => (url?.startsWith("/artifacts/") === true ? undefined : url) },
      "/login": server,
    },
  },
  test: { css: true, include: ["src/**/*.test.{ts,tsx}"], restoreMocks: true },
});
