/** The tour that `npm start` runs. On dist. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ended } from "./command-process.ts";

const tour = fileURLToPath(new URL("../../examples/tour/tour.mjs", import.meta.url));

describe("the tour", () => {
  it("shows a session, lets two processes append and a third follow, and loses nothing", async () => {
    const child = spawn(process.execPath, [tour], { env: { PATH: process.env["PATH"] } });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    const { code } = await ended(child);
    expect(Buffer.concat(err).toString()).toBe("");
    expect(code).toBe(0);

    const text = Buffer.concat(out).toString();
    expect(text).toContain("Port the settings page");
    expect(text).toContain("◉ ");
    expect(text.match(/50 entries acknowledged/g)).toHaveLength(2);
    expect(text).toMatch(/follower +100 entries seen/);
    expect(text).toMatch(/entries +344 before, 444 now/);
    expect(text.match(/^✓ /gm)).toHaveLength(4);
    expect(text).not.toContain("✗");
    expect(text.trimEnd().split("\n").at(-1)).toBe("Tour complete: nothing was lost.");
  });
});
