/** Dark, light, or as the system says: kept in the browser, applied before anything is drawn. */
import { effect, signal } from "@preact/signals";

const themes = ["auto", "light", "dark"] as const;
type Theme = (typeof themes)[number];

const storageName = "branchlog-theme";

const chosen = signal<Theme>(savedTheme());

const system = matchMedia("(prefers-color-scheme: dark)");
const isSystemDark = signal(system.matches);
system.addEventListener("change", ({ matches }) => (isSystemDark.value = matches));

effect(() => {
  document.documentElement.dataset["theme"] = chosen.value;
});

export function nextTheme(): void {
  chosen.value = themes[(themes.indexOf(chosen.value) + 1) % themes.length] ?? "auto";
  try {
    localStorage.setItem(storageName, chosen.value);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

export function themeName(): Theme {
  return chosen.value;
}

/** For what is drawn with colours that it read. */
export function isDark(): boolean {
  return chosen.value === "dark" || (chosen.value === "auto" && isSystemDark.value);
}

function savedTheme(): Theme {
  try {
    const saved = localStorage.getItem(storageName);
    return themes.find((theme) => theme === saved) ?? "auto";
  } catch {
    return "auto";
  }
}
