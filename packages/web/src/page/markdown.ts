/**
 * Text of sessions as HTML: the only module that sets `innerHTML`. The text is hostile, so HTML in
 * it is shown as text, only a few elements without style or script pass, and nothing is loaded.
 */
import DOMPurify from "dompurify";
import { Marked } from "marked";

const textTags =
  "a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i li ol p pre span strong table " +
  "tbody td th thead tr ul";

/** Trusted Types let only DOMPurify's own policy produce HTML. */
const purifier = DOMPurify(window);

purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  if (/^(https?|mailto):/i.test(node.getAttribute("href") ?? "")) {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
  } else {
    node.removeAttribute("href");
  }
});

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // HTML in a session is mostly its subject, seldom its format.
    html: ({ text }) => escaped(text),
    image: ({ href, text }) =>
      `<span class="absent-image">image: ${escaped(text)} (${escaped(href.slice(0, 200))})</span>`,
    code: ({ text, lang }) => {
      const language = /^[\w+#-]+/.exec(lang ?? "")?.[0] ?? "";
      return `<pre><code class="language-${language}">${escaped(text)}\n</code></pre>`;
    },
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

/**
 * Shows a text as Markdown, or as it is if it is nested too deeply. Returns the code in it that has
 * a language.
 */
export function renderMarkdown(element: HTMLElement, text: string): readonly CodeElement[] {
  try {
    setHtml(element, marked.parse(text, { async: false }), textTags.split(" "), [
      "href",
      "class",
      "start",
      "align",
    ]);
  } catch {
    element.textContent = text;
  }
  return Array.from(element.querySelectorAll("pre > code"), (code) => ({
    element: code,
    language: /language-([^ ]+)/.exec(code.className)?.[1] ?? "",
  })).filter(({ language }) => language !== "");
}

export interface CodeElement {
  readonly element: Element;
  readonly language: string;
}

/** Shows highlighted code, which consists of text and of spans with classes. */
export function renderHighlighted(element: Element, html: string): void {
  setHtml(element, html, ["span"], ["class"]);
}

function setHtml(element: Element, html: string, tags: string[], attributes: string[]): void {
  const trusted = purifier.sanitize(html, {
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: attributes,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_TRUSTED_TYPE: true,
  });
  // Cast: `innerHTML` takes trusted HTML, which its type does not know.
  element.innerHTML = trusted as unknown as string;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
