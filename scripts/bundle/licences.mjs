/** The licences of the packages that are in a bundle. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** @param {readonly string[]} paths The modules of the bundle. @returns {string} */
export function licences(paths) {
  const folders = new Set(
    paths.flatMap((path) => /.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+/.exec(path) ?? []),
  );
  const texts = [...folders].map(licence);
  return `The command contains these packages.\n\n${texts.toSorted().join("\n")}`;
}

function licence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) return `${name} ${version}: ${license}\n`;
  return `${name} ${version}: ${license}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
}
