import { Monitor, Moon, Sun } from "lucide-react";
import { type ReactNode, useState } from "react";

import { setTheme, type Theme, theme } from "../lib/browser/theme.ts";

const CHOICES = [
  { value: "light", word: "Light", Icon: Sun },
  { value: "dark", word: "Dark", Icon: Moon },
  { value: "system", word: "System", Icon: Monitor },
] as const;

export function ThemeSwitch(): ReactNode {
  const [chosen, setChosen] = useState<Theme>(theme);
  return (
    <fieldset className="flex gap-0.5 px-1.5">
      <legend className="sr-only">Theme</legend>
      {CHOICES.map(({ value, word, Icon }) => (
        <label
          key={value}
          title={word}
          className={`cursor-pointer rounded p-1.5 hover:bg-hover pointer-coarse:p-3.5 has-focus-visible:outline-2 has-focus-visible:outline-accent ${chosen === value ? "bg-hover text-ink" : "text-soft"}`}
        >
          <input
            type="radio"
            name="theme"
            value={value}
            checked={chosen === value}
            aria-label={word}
            className="sr-only"
            onChange={() => {
              setTheme(value);
              setChosen(value);
            }}
          />
          <Icon aria-hidden="true" className="size-4" />
        </label>
      ))}
    </fieldset>
  );
}
