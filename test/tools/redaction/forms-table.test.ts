/** Which kinds of secrets are found in which forms: the table of docs/redaction.md, generated. */
import { describe, expect, it } from "vitest";
import { Redactor } from "../../../packages/tools/src/redaction/redactor.ts";
import { secretForms, secretKinds, secretsRead } from "../../support/secret-kinds.ts";
import type { SecretForm, SecretKind } from "../../support/secret-kinds.ts";
import { readDocument } from "../../tidy/documents.ts";
import { runs } from "../../support/fault-seed.ts";

/** A session of this text only, so that no other entry shows the secret. */
function redacted(text: string): string {
  const line = JSON.stringify({ text: `Before.\n${text}\nBehind.` });
  const redactor = new Redactor("session.jsonl");
  redactor.json(line);
  redactor.endLearning();
  return redactor.json(line);
}

const samples = Array.from({ length: runs(3, 12) }, (_, number) => number);

function isMissed({ sample }: SecretKind, { textsOf }: SecretForm): boolean {
  return samples.some((number) => {
    const secret = sample(number);
    return textsOf(secret).some((text) => secretsRead(redacted(text), secret.secrets).length > 0);
  });
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

describe("the table of kinds and forms", () => {
  it("says of each kind in which forms redaction finds it", () => {
    const rows = secretKinds.map((kind) => {
      const cells = secretForms.map((form) => (isMissed(kind, form) ? "no" : "yes"));
      return row([kind.name, ...cells]);
    });
    const head = [row(["kind", ...secretForms.map(({ name }) => name)]), "|---".repeat(9) + "|"];
    const table = [...head, ...rows].join("\n");
    expect(readDocument("docs/redaction.md").text).toContain(`\n${table}\n`);
  });

  it("is made from texts in which a reader finds the secrets that are not redacted", () => {
    for (const { sample } of secretKinds) {
      const secret = sample(1);
      for (const { textsOf } of secretForms) {
        for (const text of textsOf(secret)) {
          expect(secretsRead(JSON.stringify({ text }), secret.secrets, 3)).not.toEqual([]);
        }
      }
    }
  });
});
