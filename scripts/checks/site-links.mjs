/**
 * Checks the site of the documentation: `node scripts/checks/site-links.mjs FOLDER`. Every page has
 * to be reachable from the first one, which is the README, by links in the pages themselves, and
 * every link within the site has to lead to a file.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const folder = resolve(process.argv[2] ?? "docs/site");
const first = join(folder, "index.html");
const reached = new Set([first]);
const problems = [];

for (const page of reached) {
  for (const target of linksOf(page)) {
    if (!existsSync(target))
      problems.push(`${relative(folder, page)} links to ${target}, which is missing`);
    else if (target.endsWith(".html")) reached.add(target);
  }
}
for (const page of pagesIn(folder)) {
  if (!reached.has(page))
    problems.push(`${relative(folder, page)} is not reachable from the README`);
}
for (const problem of problems) console.error(problem);
console.log(`${reached.size} pages are reachable`);
if (problems.length > 0 || reached.size < 2) process.exitCode = 1;

function linksOf(page) {
  const links = readFileSync(page, "utf8").matchAll(/<a [^>]*href="([^"#?:]+)["#?]/gu);
  return Array.from(links, ([, path]) => resolve(dirname(page), decodeURIComponent(path)));
}

function pagesIn(directory) {
  return readdirSync(directory, { recursive: true })
    .filter((name) => name.endsWith(".html"))
    .map((name) => join(directory, name));
}
