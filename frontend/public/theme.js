// The theme before the first paint: the chosen one, else the system's. `src/lib/theme.ts` changes it later.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem("packline.theme");
  } catch {
    // A browser that keeps nothing follows the system.
  }
  if (chosen !== "light" && chosen !== "dark") {
    chosen = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  document.documentElement.dataset.theme = chosen;
  // A file fills the window: nothing is painted before it.
  if (/\/artifacts\/[^/]+$/.test(location.pathname)) document.documentElement.dataset.bare = "";
})();
