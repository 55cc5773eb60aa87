/** The lines of a log that is made of a document; each entry is the parent of the next. */

export type LineBody = { readonly type: string } & Readonly<Record<string, unknown>>;

export class LogLines {
  readonly all: string[] = [];
  lastId: string | null = null;
  timestamp: string;
  /** In force, as `provider/id`. */
  model = "";

  constructor(timestamp: string) {
    this.timestamp = timestamp;
  }

  add(id: string, { type, ...rest }: LineBody): void {
    const { lastId: parentId, timestamp } = this;
    this.all.push(JSON.stringify({ type, id, parentId, timestamp, ...rest }));
    this.lastId = id;
  }

  /** A line that is no record is a diagnostic of the log. */
  addDamaged(text: string): void {
    this.all.push(text.replace(/[\r\n]+/g, " ").trim() || "{");
  }

  /** An entry, if it is another model than before. */
  addModel(id: string, provider: string | undefined, modelId: string | undefined): void {
    if (provider === undefined || modelId === undefined) return;
    if (this.model === `${provider}/${modelId}`) return;
    this.model = `${provider}/${modelId}`;
    this.add(`${id}:model`, { type: "model_change", provider, modelId });
  }
}
