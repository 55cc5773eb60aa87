/** The parts of the command with which other programs can display sessions. */
export { contextTexts } from "./commands/context.ts";
export { treeLines, treeNodes } from "./commands/tree.ts";
export type { TreeLinesOptions, TreeNode } from "./commands/tree.ts";
export { openForReading } from "./opened-session.ts";
export type { OpenedSession, OpeningCost } from "./opened-session.ts";
export { gatherInfo } from "./session-info.ts";
export type { Counts, SessionInfo, Tip, UsageInfo } from "./session-info.ts";
export { createStyle, plainStyle, wantsColour } from "./style.ts";
export type { ColourEnvironment, Paint, Style } from "./style.ts";
export { infoText } from "./text/info-text.ts";
export { verifyText } from "./text/verify-text.ts";
