/**
 * Folds the system messages of a context into one, which a compaction stores so that the prompt and
 * the tools outlive the messages that it summarises. Pure.
 */
import type { AgentMessage } from "@branchlog/core";
import type { SystemMessage, SystemTool } from "@branchlog/core/entries";
import { isStoredObject, storedText } from "@branchlog/core/rows";

/**
 * The texts of the system messages joined by a blank line, sections replaced by name and dropped
 * where null, and the tools that remain. Undefined without a system message. Keys without a value
 * are absent.
 * @param timestampMs epoch milliseconds of the result: the time of the compaction entry
 */
export function computeSystemMessage(
  messages: readonly AgentMessage[],
  timestampMs: number,
): SystemMessage | undefined {
  const texts: string[] = [];
  const sections = new Map<string, string>();
  const tools = new Map<string, SystemTool>();
  let found = false;
  for (const message of messages) {
    if (message.role !== "system") continue;
    found = true;
    const text = storedText(message.content, "\n");
    if (text !== "") texts.push(text);
    patchSections(sections, message);
    patchTools(tools, message);
  }
  if (!found) return undefined;
  return {
    role: "system",
    content: texts.join("\n\n"),
    ...(sections.size > 0 ? { sections: Object.fromEntries(sections) } : {}),
    ...(tools.size > 0 ? { toolsAdded: [...tools.values()] } : {}),
    timestamp: timestampMs,
  };
}

function patchSections(sections: Map<string, string>, message: SystemMessage): void {
  if (!isStoredObject(message.sections)) return;
  for (const [name, text] of Object.entries(message.sections)) {
    if (text === null) sections.delete(name);
    else sections.set(name, text);
  }
}

function patchTools(tools: Map<string, SystemTool>, message: SystemMessage): void {
  for (const tool of storedObjects(message.toolsRemoved)) tools.delete(tool.name);
  for (const tool of storedObjects(message.toolsAdded)) tools.set(tool.name, tool);
}

function storedObjects<T extends object>(list: T[] | undefined): readonly T[] {
  return Array.isArray(list) ? list.filter((item) => isStoredObject(item)) : [];
}
