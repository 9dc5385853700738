import "./styles.css";

import { RouterProvider } from "@tanstack/react-router";
import { startTransition, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Provider } from "urql";

import { createGraphQL } from "../lib/server/client.ts";
import { followNetwork } from "../lib/server/connection.ts";
import { loadAhead } from "../lib/server/lazyLoad.ts";
import { rememberOpened } from "../lib/browser/openedAddress.ts";
import { followTheme } from "../lib/browser/theme.ts";
import { guardTyped } from "../lib/browser/typed.ts";
import { plainFavicon } from "../domain/runs/useFavicon.ts";
import { router } from "./router.tsx";

/** After this long, render with a loading indicator. */
const PATIENCE_MS = 1000;

rememberOpened(location);
followTheme();
followNetwork();
guardTyped();
plainFavicon();
const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
const page = createRoot(root);

// In a separate task, and rendered in slices, so that a phone can respond in between.
setTimeout(() => {
  const client = createGraphQL();
  const patience = new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS));
  void Promise.race([router.load().catch(console.error), patience]).then(() => {
    startTransition(() =>
      page.render(
        <StrictMode>
          <Provider value={client}>
            <RouterProvider router={router} />
          </Provider>
        </StrictMode>,
      ),
    );
    void loadAhead();
  });
});
