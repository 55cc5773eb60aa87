/**
 * What a tool cannot do, told to the model that called it: what is wrong, and what to do next. It
 * names nothing that the caller may not see.
 */
export class ToolError extends Error {
  override readonly name: string = "ToolError";
}
