/** Checks that one file prints: what is printed elsewhere could steer the terminal that shows it. */
import ts from "typescript";
import { importsOf } from "./imports.ts";
import { problemAt, visitNodes } from "./source-file.ts";
import type { Problem, SourceFile } from "./source-file.ts";

/**
 * The one file, one for texts of the program itself, one that silences a warning of Node, and a
 * package that no user runs.
 */
const printing =
  /^packages\/(?:cli\/src\/(?:quick-)?output\.ts$|library\/src\/index\/sql-database\.ts$|bench\/)/;
/** Members of `process` that print, or are streams that do. */
const printers: ReadonlySet<string> = new Set(["stdout", "stderr", "emitWarning", "_rawDebug"]);

/** Ways to standard output and standard error outside of the file that keeps them. */
export function printsElsewhere(file: SourceFile): Problem[] {
  if (printing.test(file.path)) return [];
  const problems: Problem[] = [];
  visitNodes(file, (node) => {
    const what = printerIn(node);
    if (what !== undefined) problems.push(problemAt(file, node, `prints through ${what}`));
  });
  for (const { specifier, node } of importsOf(file)) {
    if (!/^(?:node:)?(?:console|process)$/.test(specifier)) continue;
    problems.push(problemAt(file, node, `imports ${specifier}, which can print`));
  }
  return problems;
}

function printerIn(node: ts.Node): string | undefined {
  if (ts.isIdentifier(node) && node.text === "console") return "console";
  if (ts.isPropertyAccessExpression(node)) return printerOf(node.expression, node.name.text);
  if (ts.isElementAccessExpression(node)) {
    const { argumentExpression: name } = node;
    if (ts.isStringLiteralLike(name)) return printerOf(node.expression, name.text);
  }
  if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name)) {
    const names = node.name.elements.map(({ propertyName, name }) => propertyName ?? name);
    const found = names.find((name) => ts.isIdentifier(name) && printers.has(name.text));
    if (found !== undefined && node.initializer?.getText() === "process") return "process";
  }
  return standardDescriptor(node);
}

function printerOf(object: ts.Expression, name: string): string | undefined {
  const isProcess = /^(?:globalThis\.)?process$/.test(object.getText());
  if (isProcess && printers.has(name)) return `process.${name}`;
  return object.getText() === "globalThis" && name === "console" ? "console" : undefined;
}

/** Calls such as `writeSync(1, …)` and `createWriteStream("/dev/stdout")`. */
function standardDescriptor(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  const [first] = node.arguments;
  const called = ts.isPropertyAccessExpression(node.expression)
    ? node.expression.name
    : node.expression;
  if (first === undefined || !/write|append|open/i.test(called.getText())) return undefined;
  if (ts.isNumericLiteral(first) && /^[12]$/.test(first.text)) return `descriptor ${first.text}`;
  const isDevice = ts.isStringLiteralLike(first) && /^\/dev\/(?:std|tty|fd)/.test(first.text);
  return isDevice ? first.text : undefined;
}
