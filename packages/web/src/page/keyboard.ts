/** Single keys as commands. They are off while text is typed or a dialog is open. */
import { useLayoutEffect, useRef } from "preact/hooks";

/** By `KeyboardEvent.key`. */
type KeyCommands = Readonly<Record<string, () => void>>;

/** The keys of every list. */
export function moveKeys(move: (step: 1 | -1) => void): KeyCommands {
  const next = (): void => move(1);
  const previous = (): void => move(-1);
  return { j: next, ArrowDown: next, k: previous, ArrowUp: previous };
}

const stack: (() => KeyCommands)[] = [];

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyped(event) || document.querySelector("dialog[open]") !== null) return;
  // What was mounted last is innermost.
  const command = stack.toReversed().find((commands) => event.key in commands())?.()[event.key];
  if (command === undefined) return;
  event.preventDefault();
  command();
});

/** Fields take all keys; what has focus and can be pressed takes Enter. */
function isTyped(event: KeyboardEvent): boolean {
  if (!(event.target instanceof Element)) return false;
  if (event.target.matches("input:not([type=checkbox]), textarea, select")) return true;
  return event.key === "Enter" && event.target.closest("a, button, summary, input") !== null;
}

/** The commands of a view while it is shown. Those of the frame give way to those of all views. */
export function useKeys(commands: KeyCommands, owner: "view" | "frame" = "view"): void {
  const latest = useRef(commands);
  latest.current = commands;
  // Not after the first paint: a key may be pressed as soon as the view is there.
  useLayoutEffect(() => {
    const read = (): KeyCommands => latest.current;
    if (owner === "frame") stack.unshift(read);
    else stack.push(read);
    return () => void stack.splice(stack.indexOf(read), 1);
  }, []);
}
