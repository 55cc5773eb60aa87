/** The facts of a session, as text. Pure. */
import { agentNamed } from "@branchlog/core/rows";
import type { Counts, SessionInfo, Tip, UsageInfo } from "../session-info.ts";
import type { Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { divergenceText, kindsText } from "./findings.ts";
import {
  agoText,
  cacheText,
  costText,
  countText,
  durationText,
  estimateText,
  numberText,
  sizeText,
  timeText,
} from "./quantities.ts";

/** Further branches and labels are counted. */
const listedMax = 8;
const countsUnitsMax = 72;

/**
 * One fact per line, named on the left.
 * @param nowMs Adds ages to times.
 */
export function infoText(info: SessionInfo, style: Style, nowMs?: number): string {
  const { header, model, opening } = info;
  const modelName = model === null ? "none" : shown(`${model.provider}/${model.modelId}`);
  const facts: (readonly [string, readonly string[]])[] = [
    ["session", [`${shown(header.id)}, ${sourceText(info)}`]],
    ["resume", [shown(info.resume)]],
    ["created", [createdText(header.created, nowMs)]],
    ["cwd", [shown(header.cwd)]],
    ["parent", header.parentSession === null ? [] : [shown(header.parentSession)]],
    ["size", [sizeText(info.sizeBytes)]],
    ["entries", entriesLines(info)],
    ["branches", tipLines(info, style)],
    ["labels", labelLines(info, style)],
    ["model", [`${modelName}, thinking ${shown(info.thinkingLevel)}`]],
    ["usage", info.usage === null ? ["none stored"] : usageLines(info.usage)],
    ["damage", [damageLine(info, style)]],
    ["pending", lineOf(info, "pending")],
    ["noted", lineOf(info, "noted")],
    ["diverged", divergenceLines(info)],
    [
      "opened in",
      [
        `${durationText(opening.ms)}: ${sizeText(opening.bytesRead)} read, ` +
          `${countText(opening.linesParsed, "line")} parsed`,
      ],
    ],
  ];
  const title = info.name === null ? style.faint("(no name)") : style.heading(shown(info.name));
  return `${title}\n${shown(info.path)}\n\n${facts.map((fact) => factText(fact, style)).join("")}`;
}

function createdText(created: string, nowMs: number | undefined): string {
  const time = Date.parse(created);
  const isKnown = nowMs !== undefined && !Number.isNaN(time);
  return isKnown ? `${timeText(time)}, ${agoText(time, nowMs)}` : timeText(time);
}

function sourceText({ agent, header }: SessionInfo): string {
  const { product, transcripts, documents } = agentNamed(agent) ?? {};
  const isForeign = (transcripts ?? documents) !== undefined;
  return isForeign ? `of ${product}, read-only here` : `version ${header.version}`;
}

function factText([name, lines]: readonly [string, readonly string[]], style: Style): string {
  const indent = " ".repeat(11);
  return lines
    .map((line, i) => `${i === 0 ? style.faint(name.padEnd(11)) : indent}${line}\n`)
    .join("");
}

function entriesLines({ entries, types, roles, customTypes }: SessionInfo): string[] {
  return [
    numberText(entries),
    ...countsLines("", types),
    ...countsLines("messages: ", roles),
    ...countsLines("extensions: ", customTypes),
  ];
}

/** Wrapped. */
function countsLines(title: string, counts: Counts): string[] {
  const lines: string[] = [];
  let line = title;
  for (const [name, count] of Object.entries(counts)) {
    const part = `${shown(name)} ${numberText(count)}`;
    if (line !== title && line.length + part.length > countsUnitsMax) {
      lines.push(`${line},`);
      line = part;
    } else line += line === title ? part : `, ${part}`;
  }
  return line === title ? lines : [...lines, line];
}

function tipLines({ tips, leaf }: SessionInfo, style: Style): string[] {
  const line = ({ id, type, role, timestamp }: Tip): string => {
    const when = timestamp === null ? "no time" : timeText(Date.parse(timestamp));
    const mark = id === leaf ? ` ${style.good("← leaf")}` : "";
    return `${shown(id)}  ${when}  ${shown(role ?? type)}${mark}`;
  };
  return listed(tips, line);
}

function labelLines({ labels }: SessionInfo, style: Style): string[] {
  return listed(labels, ({ label, targetId }) => {
    return `${style.label(`[${shown(label)}]`)} on ${shown(targetId)}`;
  });
}

function listed<T>(items: readonly T[], line: (item: T) => string): string[] {
  const lines = items.slice(-listedMax).map((item) => line(item));
  const count = numberText(items.length);
  const hidden = items.length - lines.length;
  return [hidden > 0 ? `${count}, the last ${lines.length} of them:` : count, ...lines];
}

function usageLines(usage: UsageInfo): string[] {
  const { requests, input, output, cacheRead, cacheWrite, cost, models } = usage;
  return [
    `${costText(cost ?? 0)} in ${countText(requests, "request")}`,
    ...estimateLines(usage),
    `tokens: ${numberText(input)} in, ${numberText(output)} out, ` +
      `${numberText(cacheRead)} read from cache, ${numberText(cacheWrite)} written to cache`,
    ...models.map((model) => {
      const name = shown(`${model.provider}/${model.modelId}`);
      const cached = cacheText(model.cacheRead, model.cacheWrite);
      return `${name}: ${costText(model.cost ?? 0)}, ${countText(model.tokens, "token")}${cached}`;
    }),
  ];
}

function estimateLines({ estimatedCost, unknownPrices = [] }: UsageInfo): string[] {
  if (estimatedCost === undefined) return [];
  const unknown = unknownPrices
    .map((model) => shown(model) || "requests without a model")
    .join(", ");
  const without = unknown === "" ? "" : `; without ${unknown}, whose prices are unknown`;
  return [`estimated: ${estimateText(estimatedCost ?? undefined)} by list prices${without}`];
}

function damageLine({ findings }: SessionInfo, style: Style): string {
  const damage = kindsText(findings, "damage");
  if (damage === "")
    return style.good("none found while opening; branchlog verify reads the whole file");
  return style.bad(`${damage}; found while opening, see branchlog verify`);
}

function divergenceLines({ divergences }: SessionInfo): readonly string[] {
  if (divergences.length === 0) return [];
  return listed(divergences, (diverged) => divergenceText(diverged));
}

function lineOf({ findings }: SessionInfo, weight: "pending" | "noted"): readonly string[] {
  const kinds = kindsText(findings, weight);
  return kinds === "" ? [] : [kinds];
}

function shown(text: string): string {
  return oneLine(text, 200);
}
