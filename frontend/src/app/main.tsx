import "./styles.css";

import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
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

rememberOpened(location);
followTheme();
followNetwork();
guardTyped();
plainFavicon();
const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <Provider value={createGraphQL()}>
      <RouterProvider router={router} />
    </Provider>
  </StrictMode>,
);

// What the visitor sees first comes first.
addEventListener("load", () => void loadAhead());
