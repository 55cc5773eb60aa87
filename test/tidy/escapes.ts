/** Checks for ways around the compiler and for exports that hide what a module offers. */
import ts from "typescript";
import { problemAt, visitNodes } from "./source-file.ts";
import type { Problem, SourceFile } from "./source-file.ts";

/**
 * `any`, `!`, old-style casts, comments that silence the compiler; and casts through another cast,
 * unless a comment over their statement says why, after "Decoding boundary:" or "Cast:".
 */
export function typeEscapes(file: SourceFile): Problem[] {
  const problems: Problem[] = [];
  visitNodes(file, (node) => {
    const what = typeEscape(node) ?? doubleCast(file, node);
    if (what !== undefined) problems.push(problemAt(file, node, what));
  });
  for (const [index, line] of file.text.split("\n").entries()) {
    const comment = /@ts-(ignore|nocheck|expect-error)/.exec(line)?.[0];
    if (comment !== undefined) problems.push(`${file.path}:${index + 1}: ${comment}`);
  }
  return problems;
}

function typeEscape(node: ts.Node): string | undefined {
  if (node.kind === ts.SyntaxKind.AnyKeyword) return "any";
  if (ts.isNonNullExpression(node)) return "a non-null assertion";
  if (ts.isPropertyDeclaration(node) && node.exclamationToken) return "a definite assignment";
  if (ts.isVariableDeclaration(node) && node.exclamationToken) return "a definite assignment";
  if (ts.isTypeAssertionExpression(node)) return "an old-style cast";
  return undefined;
}

function doubleCast(file: SourceFile, node: ts.Node): string | undefined {
  if (!ts.isAsExpression(node) || !ts.isAsExpression(withoutBrackets(node.expression))) {
    return undefined;
  }
  const statement = ts.findAncestor(node, ts.isStatement) ?? node;
  const comments = ts.getLeadingCommentRanges(file.text, statement.getFullStart()) ?? [];
  const isExplained = comments.some(({ pos, end }) =>
    /^\/\/ (Decoding boundary|Cast): \S/.test(file.text.slice(pos, end)),
  );
  return isExplained ? undefined : 'a cast through another cast without "// Cast: why" above it';
}

function withoutBrackets(expression: ts.Expression): ts.Expression {
  let inner = expression;
  while (ts.isParenthesizedExpression(inner)) inner = inner.expression;
  return inner;
}

/** Default exports, and star exports but of whole entry points, by the package that users import. */
export function hiddenExports(file: SourceFile): Problem[] {
  const problems: Problem[] = [];
  for (const statement of file.tree.statements) {
    if (ts.isExportAssignment(statement) || hasDefaultModifier(statement)) {
      problems.push(problemAt(file, statement, "a default export"));
    }
    if (!ts.isExportDeclaration(statement) || isEntryPoint(file, statement)) continue;
    const clause = statement.exportClause;
    if (clause === undefined || ts.isNamespaceExport(clause)) {
      problems.push(problemAt(file, statement, "a star export"));
    } else if (clause.elements.some((element) => element.name.text === "default")) {
      problems.push(problemAt(file, statement, "a default export"));
    }
  }
  return problems;
}

/** See docs/decisions/0053-one-package-for-users.md. */
function isEntryPoint({ path }: SourceFile, statement: ts.ExportDeclaration): boolean {
  const { exportClause, moduleSpecifier } = statement;
  const isPart =
    moduleSpecifier !== undefined &&
    ts.isStringLiteral(moduleSpecifier) &&
    moduleSpecifier.text.startsWith("@branchlog/");
  return exportClause === undefined && isPart && path.startsWith("packages/branchlog/src/");
}

function hasDefaultModifier(statement: ts.Statement): boolean {
  if (!ts.canHaveModifiers(statement)) return false;
  const modifiers = ts.getModifiers(statement) ?? [];
  return modifiers.some((modifier) => modifier.kind === ts.SyntaxKind.DefaultKeyword);
}

/** Anything in an index.ts but lists of named exports, and imports that register agents. */
export function busyIndexes(file: SourceFile): Problem[] {
  if (!file.path.endsWith("/index.ts")) return [];
  const others = file.tree.statements.filter(
    (one) =>
      !isExportList(one) &&
      !(ts.isExportDeclaration(one) && isEntryPoint(file, one)) &&
      !registersAgents(one),
  );
  return others.map((statement) => problemAt(file, statement, "not a list of named exports"));
}

function registersAgents(statement: ts.Statement): boolean {
  return statement.getText() === 'import "@branchlog/agents";';
}

function isExportList(statement: ts.Statement): boolean {
  if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined) return false;
  return ts.isNamedExports(statement.exportClause);
}
