/** Images that omp keeps in separate files: restored, and checked. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resolveBlobs } from "@branchlog/agents/omp";
import type { BlobProblem } from "@branchlog/agents/omp";
import { blobChecksum, withBlobs } from "../../../packages/agents/src/omp/resolve-blobs.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** A directory with a blob of these bytes, and the reference to it. */
function stored(directory: string, bytes: Buffer): string {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, sha256(bytes)), bytes);
  return `blob:sha256:${sha256(bytes)}`;
}

describe("the images of a message", () => {
  it("come from the referenced files", () => {
    const directory = temporaryDirectory();
    const image = stored(directory, Buffer.from([0, 1, 2, 255]));
    const url = stored(directory, Buffer.from("data:image/png;base64,AAEC"));
    const message = {
      role: "user",
      content: [
        { type: "text", text: image },
        { type: "image", data: image, mimeType: "image/png" },
        { type: "image_generation_call", result: image },
        { type: "input_image", image_url: url },
      ],
      details: { images: [{ data: image, mimeType: "image/png" }], frames: [{ data: image }] },
      timestamp: 1,
    };
    const before = structuredClone(message);
    expect(resolveBlobs(message, { directory })).toEqual({
      role: "user",
      content: [
        { type: "text", text: image },
        { type: "image", data: "AAEC/w==", mimeType: "image/png" },
        { type: "image_generation_call", result: "AAEC/w==" },
        { type: "input_image", image_url: "data:image/png;base64,AAEC" },
      ],
      details: { images: [{ data: "AAEC/w==", mimeType: "image/png" }], frames: [{ data: image }] },
      timestamp: 1,
    });
    expect(message).toEqual(before);
  });

  it("stay references when a file is missing or differs, which is reported once", () => {
    const directory = temporaryDirectory();
    const missing = `blob:sha256:${"0".repeat(64)}`;
    const damaged = stored(directory, Buffer.from("whole"));
    const path = join(directory, damaged.slice("blob:sha256:".length));
    writeFileSync(path, readFileSync(path).subarray(0, 3));
    const unreadable = `blob:sha256:${"1".repeat(64)}`;
    mkdirSync(join(directory, "1".repeat(64)));
    const images = [missing, damaged, unreadable, damaged].map((data) => ({ type: "image", data }));
    const problems: BlobProblem[] = [];
    const onProblem = (problem: BlobProblem): unknown => problems.push(problem);
    expect(resolveBlobs(images, { directory, onProblem })).toEqual(images);
    const reasons = problems.map(({ reason }) => reason).toSorted();
    expect(reasons).toEqual(["damaged", "missing", "unreadable"]);
  });

  it.runIf(process.platform === "linux")("do not block when a pipe has their name", () => {
    const directory = temporaryDirectory();
    const sha = "c".repeat(64);
    execFileSync("/usr/bin/env", ["mkfifo", join(directory, sha)]);
    const image = { type: "image", data: `blob:sha256:${sha}` };
    expect(resolveBlobs(image, { directory })).toEqual(image);
  });

  it("are never read from outside their directory", () => {
    const names = ["blob:sha256:../../etc/passwd", `blob:sha256:${"A".repeat(64)}`, "blob:sha256:"];
    expect(names.map(blobChecksum)).toEqual([undefined, undefined, undefined]);
  });

  it("are the only change in any stored value", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (json) => {
        const value: unknown = JSON.parse(json);
        const copy = withBlobs(value, () => "never");
        expect(copy).toEqual(value);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
      }),
    );
  });

  it("are found at any depth", () => {
    const reference = `blob:sha256:${"a".repeat(64)}`;
    let value: unknown = { type: "image", data: reference };
    for (let depth = 0; depth < 100_000; depth += 1) value = { content: [value] };
    let found = withBlobs(value, () => "here") as { content?: unknown[]; data?: unknown };
    while (found.content !== undefined) found = found.content[0] as typeof found;
    expect(found.data).toBe("here");
  });
});
