/** Highlights code in a worker, so that a long text does not block the page. */
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { HighlightAnswer, HighlightRequest } from "./highlight-messages.ts";

const languages = { bash, css, diff, go, java, javascript, json, python, rust, sql, xml, yaml };

for (const [name, language] of Object.entries({ ...languages, typescript })) {
  hljs.registerLanguage(name, language);
}

addEventListener("message", ({ data }: MessageEvent<HighlightRequest>) => {
  const { id, language, text } = data;
  const isKnown = hljs.getLanguage(language) !== undefined;
  const html = isKnown ? hljs.highlight(text, { language, ignoreIllegals: true }).value : null;
  postMessage({ id, html } satisfies HighlightAnswer);
});
