/** A plugin of TypeDoc: each document has its first heading as its title, as on every other site. */
import { Converter } from "typedoc";

export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, document) => {
    const text = document.content.map((part) => part.text).join("");
    const [, title] = /^# (.+)$/mu.exec(text) ?? [];
    if (title !== undefined) document.name = title.replaceAll("`", "");
  });
}
