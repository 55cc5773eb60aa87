/** Where the built page is. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { BranchlogError } from "@branchlog/core";

/**
 * In the bundle of the command next to its files, or with its part in the package that is
 * published; for the other modules next to them.
 * @throws BranchlogError `ERR_SERVE_FAILED`.
 */
export function assetsDirectory(): string {
  const places = ["./assets/", "../assets/", "../parts/web/assets/"].map((place) =>
    fileURLToPath(new URL(place, import.meta.url)),
  );
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  const message = "The page is not built; run npm run build.";
  throw new BranchlogError("ERR_SERVE_FAILED", message);
}
