/** `@branchlog/web`: the page over sessions, and the server behind it. In reading order. */
import "@branchlog/agents";
export { serve } from "./serve.ts";
export { exportHtml, htmlPieces } from "./export-html.ts";
export type { ExportHtmlOptions, HtmlReport } from "./export-html.ts";
export type { ServeOptions, Served } from "./serve.ts";
export type { ShownPlace } from "./session-directory.ts";
export type {
  BranchComparison,
  ApiError,
  TurnBlock,
  Change,
  ChangeResult,
  ContextMessage,
  ContextView,
  CostRow,
  CostTable,
  EntryPlace,
  EntryView,
  LabelItem,
  Row,
  RowLanes,
  RowPage,
  SearchEnd,
  SearchHitItem,
  ServerEvent,
  SessionFacts,
  SessionItem,
  SessionList,
  Usage,
} from "./api.ts";
