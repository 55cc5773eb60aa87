/** The marks of Markdown around text that may hold marks itself. Pure. */

/** The text in a fence that nothing in it can close. */
export function fenced(text: string, language = ""): string {
  const fence = "`".repeat(Math.max(3, longestRun(text, "`") + 1));
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}\n`;
}

/** The text on one line, as code. */
export function codeSpan(text: string): string {
  const line = oneLine(text);
  const ticks = "`".repeat(longestRun(line, "`") + 1);
  const space = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${ticks}${space}${line}${space}${ticks}`;
}

/** The text as a quotation. */
export function quotedText(text: string): string {
  const lines = closedText(text).trimEnd().split("\n");
  return `${lines.map((line) => (line === "" ? ">" : `> ${line}`)).join("\n")}\n`;
}

/** Text that is Markdown itself, with the end of a fence that it leaves open. */
export function closedText(text: string): string {
  const whole = text.trimEnd();
  const open = openFence(whole);
  return `${whole}\n${open === "" ? "" : `${open}\n`}`;
}

/** The text on one line, not too long for a heading. */
export function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > lineUnitsMax ? `${line.slice(0, lineUnitsMax).trimEnd()}…` : line;
}

const lineUnitsMax = 120;

/** The fence that is open where the text ends; empty if none is. */
function openFence(text: string): string {
  let open = "";
  for (const [, mark = "", rest = ""] of text.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)$/gm)) {
    if (open === "") {
      // What looks like a fence of backticks and has more of them behind it is code in a line.
      if (!mark.startsWith("`") || !rest.includes("`")) open = mark;
    } else if (mark[0] === open[0] && mark.length >= open.length && rest.trim() === "") open = "";
  }
  return open;
}

function longestRun(text: string, mark: string): number {
  let longest = 0;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at)) {
    const start = at;
    while (text[at] === mark) at += 1;
    longest = Math.max(longest, at - start);
  }
  return longest;
}
