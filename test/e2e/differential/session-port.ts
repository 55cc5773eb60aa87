/** The part of pi's session layer that scripts use, as far as all versions have it. */

/** An entry as far as a driver reads it. */
export interface Entry {
  readonly type: string;
  readonly id: string;
  readonly parentId: string | null;
  readonly name?: string;
  readonly message?: { readonly role?: string };
}

/** pi's session manager. */
export interface Manager {
  appendMessage(message: object): string;
  appendThinkingLevelChange(level: string): string;
  appendModelChange(provider: string, model: string): string;
  appendUsage?(kind: string, provider: string, model: string, usage: object, note?: string): object;
  appendCompaction(summary: string, kept: string | null, ...rest: readonly unknown[]): string;
  appendCustomEntry(type: string, data?: unknown): string;
  appendCustomMessageEntry(type: string, content: unknown, ...rest: readonly unknown[]): string;
  appendSessionInfo(name: string): string;
  appendLabelChange(id: string, label?: string): string;
  appendContextEdit?(id: string, replacement: unknown): string;
  branch(id: string): void;
  resetLeaf(): void;
  branchWithSummary(id: string | null, summary: string, ...rest: readonly unknown[]): string;
  createBranchedSession(id: string): string | undefined;
  newSession(options?: object): string | undefined;
  setSessionFile(path: string): void;
  usesDefaultSessionDir?(): boolean;
  isPersisted(): boolean;
  getCwd(): string;
  getSessionDir(): string;
  getSessionId(): string;
  getSessionFile(): string | undefined;
  getSessionName(): string | undefined;
  getHeader(): object | null;
  getLeafId(): string | null;
  getLeafEntry(): object | undefined;
  getEntry(id: string): object | undefined;
  getEntryCount?(): number;
  getLabel(id: string): string | undefined;
  getEntries(): Entry[];
  getChildren(id: string | null): object[];
  getBranch(id?: string): Entry[];
  getTree(): object[];
  buildSessionContext(): object;
  buildContextEntries?(): object[];
  buildSessionProjection?(): object;
}

/** The module that has it. */
export interface SessionModule {
  readonly SessionManager: {
    create(cwd: string, directory: string, options?: object): Manager;
    open(path: string, directory?: string, cwd?: string): Manager;
    continueRecent(cwd: string, directory: string): Manager;
    inMemory(cwd: string, options?: object, entries?: readonly object[]): Manager;
    forkFrom(path: string, cwd: string, directory: string, options?: object): Manager;
    list(cwd: string, directory: string): Promise<{ readonly path: string }[]>;
    listAll(directory: string): Promise<{ readonly path: string }[]>;
    findById?(cwd: string, id: string, directory: string): string | undefined;
  };
  buildSessionContext(entries: readonly object[], leafId?: string | null): object;
  buildContextEntries?(entries: readonly object[], leafId?: string | null): object[];
  buildSessionProjection?(entries: readonly object[], leafId?: string | null): object;
  getLatestCompactionEntry(entries: readonly object[]): object | null;
  parseSessionEntries(text: string): object[];
  loadEntriesFromFile(path: string): object[];
  migrateSessionEntries(entries: object[]): void;
  getDefaultSessionDir?(cwd: string): string;
  findMostRecentSession(directory: string): string | null;
}
