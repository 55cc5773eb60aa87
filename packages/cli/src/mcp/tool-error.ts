/**
 * An error of a tool, for the model that called it: the reason, and what to do next. It names
 * nothing hidden from the caller.
 */
export class ToolError extends Error {
  override readonly name: string = "ToolError";
}
