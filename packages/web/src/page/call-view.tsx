/** A tool call and its result: one summary line; opened, both in full. */
import { useState } from "preact/hooks";
import type { VNode } from "preact";
import type { ToolUse } from "@branchlog/library/conversation";
import type { TurnBlock } from "../api.ts";
import { formatCount, formatDuration, plural, withoutEscapes } from "./model/formatting.ts";
import { entriesPlace } from "./model/route.ts";
import { Link } from "./navigation.tsx";
import { Code, Diff, Picture, ResultText } from "./rich-text.tsx";

type Call = Extract<TurnBlock, { kind: "call" }>;

interface CallViewProps {
  readonly call: Call;
  readonly sessionKey: string;
  /** The directory of the session, which is omitted from a line. */
  readonly cwd: string;
  readonly isOpen: boolean;
}

/** Shorter times say nothing about a call. */
const shownMsMin = 1_000;

export function CallView({ call, sessionKey, cwd, isOpen: isFirstOpen }: CallViewProps): VNode {
  const [isOpen, setIsOpen] = useState(isFirstOpen);
  const { use, result } = call;
  const isError = result?.isError === true;
  return (
    <details
      class="call"
      data-use={use.kind}
      data-error={isError}
      open={isOpen}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
    >
      <summary>
        <CallLine call={call} cwd={cwd} />
        {"added" in use ? (
          <span>
            <span class="added">+{use.added}</span> <span class="removed">−{use.removed}</span>
          </span>
        ) : null}
        <span class="call-end">{callEnd(call)}</span>
        {isError ? <span class="call-error">{errorLine(result.text)}</span> : null}
      </summary>
      {isOpen ? <CallBody call={call} sessionKey={sessionKey} /> : null}
    </details>
  );
}

function CallLine({ call: { use, tool, line }, cwd }: Pick<CallViewProps, "call" | "cwd">): VNode {
  const verb = use.kind === "other" || use.kind === "search" ? tool : use.kind;
  if (use.kind === "shell") {
    return (
      <code class="call-line">
        <b>$</b> {withoutDirectory(line, cwd)}
      </code>
    );
  }
  return (
    <span class="call-line">
      <b>{verb}</b> <code>{relative("added" in use ? use.path : line, cwd)}</code>
    </span>
  );
}

function callEnd({ use, result }: Call): string {
  if (result === null) return "no result";
  const { exitCode, isError, durationMs, text, cut } = result;
  const lines = text === "" ? 0 : text.trimEnd().split("\n").length;
  const isListing = use.kind === "read" || use.kind === "search";
  const facts = [
    isError ? (exitCode === null ? "failed" : `exit ${exitCode}`) : null,
    isListing && !isError ? `${cut > 0 ? "> " : ""}${plural(lines, "line")}` : null,
    durationMs !== null && durationMs >= shownMsMin ? formatDuration(durationMs) : null,
  ];
  return facts.filter((fact) => fact !== null).join(" · ");
}

/** The last line mostly says why. */
function errorLine(text: string): string {
  const lines = withoutEscapes(text)
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.includes("exited with code"));
  return (lines.at(-1) ?? "").slice(0, 200);
}

/** Agents begin most commands with a change to the directory that they are in. */
function withoutDirectory(command: string, cwd: string): string {
  const start = `cd ${cwd} && `;
  return cwd !== "" && command.startsWith(start) ? command.slice(start.length) : command;
}

function relative(text: string, cwd: string): string {
  return cwd !== "" && text.startsWith(`${cwd}/`) ? text.slice(cwd.length + 1) : text;
}

function CallBody({
  call: { use, result, row },
  sessionKey,
}: Pick<CallViewProps, "call" | "sessionKey">): VNode {
  return (
    <div class="call-body">
      <UseBody use={use} />
      {result === null || (result.text === "" && result.images.length === 0) ? null : (
        <ResultText result={result} />
      )}
      {result?.images.map((image, at) => (
        <Picture key={at} source={image.source} sizeBytes={image.sizeBytes} />
      ))}
      {result !== null && result.cut > 0 ? (
        <p class="cut">
          {formatCount(result.cut)} more characters{" "}
          <Link to={entriesPlace(sessionKey, result.row === row ? row : result.row)}>Show all</Link>
        </p>
      ) : null}
    </div>
  );
}

function UseBody({ use }: { readonly use: ToolUse }): VNode | null {
  switch (use.kind) {
    case "shell":
      return <Code text={use.command} language="bash" />;
    case "edit":
    case "write":
      return <Diff lines={use.lines} />;
    case "task":
      return <Code text={use.prompt} language="" />;
    case "other":
      return (
        <dl class="fields">
          {use.fields.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      );
    case "read":
    case "search":
      return null;
  }
}
