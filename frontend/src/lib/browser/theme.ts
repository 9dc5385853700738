// Light, dark or system theme, stored in this browser. `public/theme.js` applies the choice before the first paint.

export type Theme = "light" | "dark" | "system";

const KEY = "packline.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

export function theme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function setTheme(chosen: Theme): void {
  if (chosen === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, chosen);
  apply();
}

export function followTheme(): void {
  dark.addEventListener("change", apply);
  apply();
}

function apply(): void {
  const chosen = theme();
  document.documentElement.dataset["theme"] = chosen === "system" ? (dark.matches ? "dark" : "light") : chosen;
}
