/** A pi that does nothing, installed as npm does it. */
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory of programs with a pi, as npm installs it. */
export function installedPi(version: string): { readonly bin: string; readonly cli: string } {
  const root = mkdtempSync(join(tmpdir(), "branchlog-test-"));
  const directory = join(root, "node_modules/@earendil-works/pi-coding-agent");
  const [bin, cli] = [join(root, "bin"), join(directory, "dist/cli.js")];
  mkdirSync(join(directory, "dist"), { recursive: true });
  mkdirSync(bin);
  const manifest = { name: "@earendil-works/pi-coding-agent", version };
  writeFileSync(join(directory, "package.json"), JSON.stringify(manifest));
  writeFileSync(cli, "");
  chmodSync(cli, 0o755);
  symlinkSync(cli, join(bin, "pi"));
  return { bin, cli };
}
