/** Questions with their answers in a file: many rows of a table, or answers of many lines. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

/** That each line after a `$ ` in the file is answered as what is below it there says. */
export async function expectAnswers(
  file: URL,
  answer: (question: string) => string | Promise<string>,
): Promise<void> {
  const questions = readFileSync(file, "utf8").match(/(?<=^\$ ).*$/gmu) ?? [];
  const answers: string[] = [];
  for (const question of questions) answers.push(`$ ${question}\n${await answer(question)}\n`);
  await expect(answers.join("\n")).toMatchFileSnapshot(fileURLToPath(file));
}
