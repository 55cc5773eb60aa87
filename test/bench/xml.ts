/** Whether a text is well-formed XML, as far as our pictures use it; shares no code with them. */

/** The names of elements in order, ends with a slash before. Throws if the text is not well-formed. */
export function elementsOf(xml: string): string[] {
  const names: string[] = [];
  const open: string[] = [];
  let rest = xml.trim();
  while (rest !== "") {
    const [, text = ""] = /^([^<]*)/.exec(rest) ?? [];
    checkText(text);
    rest = rest.slice(text.length);
    const tag = /^<(\/?)([a-zA-Z]+)((?: [a-zA-Z:-]+="[^"<]*")*) ?(\/?)>/.exec(rest);
    if (tag === null) {
      if (rest === "") break;
      throw new Error(`no tag: ${rest.slice(0, 60)}`);
    }
    const [whole, end, name = "", attributes = "", single] = tag;
    checkText(attributes);
    names.push(`${end ?? ""}${name}`);
    if (end === "/" && open.pop() !== name) throw new Error(`unexpected </${name}>`);
    if (end !== "/" && single !== "/") open.push(name);
    rest = rest.slice(whole.length);
  }
  if (open.length > 0) throw new Error(`never ended: ${open.join(", ")}`);
  return names;
}

function checkText(text: string): void {
  if (/&(?!(?:amp|lt|gt|quot|#39);)/.test(text)) throw new Error(`not escaped: ${text}`);
  for (const character of text) {
    if (!isXml(character.codePointAt(0) ?? 0)) throw new Error("a character that is not of XML");
  }
}

function isXml(code: number): boolean {
  if (code < 0x20) return code === 9 || code === 10 || code === 13;
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return !isSurrogate && code !== 0xfffe && code !== 0xffff;
}
