/**
 * File systems that behave as those of Windows and macOS do where they differ from that of Linux,
 * over one in memory. Sources: what Microsoft documents of opening, deleting and moving files,
 * libuv's `fs.c` for Windows, and Apple's guide to APFS.
 */
import {
  MemoryFileSystem,
  MemoryLock,
  createMemoryPorts,
  fileError,
} from "@branchlog/core/testing";
import type { FileLock, FileStat, FileSystem, OpenMode, Ports } from "@branchlog/core/testing";

export interface Behaviour {
  /** Names that differ in case only are those of one file. */
  readonly ignoresCase: boolean;
  /** A file that is open cannot be replaced; one that is deleted keeps its name until it is closed. */
  readonly holdsOpenFiles: boolean;
  readonly hasHardLinks: boolean;
  /** Neither users nor permissions. */
  readonly hasUsers: boolean;
  /** Of times, in ms. */
  readonly granularityMs: number;
}

const linux: Behaviour = {
  ignoresCase: false,
  holdsOpenFiles: false,
  hasHardLinks: true,
  hasUsers: true,
  granularityMs: 0,
};

export const systems = {
  linux,
  "macOS with APFS": { ...linux, ignoresCase: true },
  "Windows with NTFS": { ...linux, ignoresCase: true, holdsOpenFiles: true, hasUsers: false },
  "Windows with exFAT": {
    ...linux,
    ignoresCase: true,
    holdsOpenFiles: true,
    hasHardLinks: false,
    hasUsers: false,
    granularityMs: 2_000,
  },
} as const satisfies Readonly<Record<string, Behaviour>>;

export type SystemName = keyof typeof systems;
export const systemNames: readonly SystemName[] = [
  "linux",
  "macOS with APFS",
  "Windows with NTFS",
  "Windows with exFAT",
];

export class SimulatedFileSystem implements FileSystem {
  readonly inner: MemoryFileSystem = new MemoryFileSystem();
  readonly #behaviour: Behaviour;
  /** The names as they were given first. */
  readonly #spelled = new Map<string, string>();
  readonly #opened = new Map<number, string>();
  /** Deleted while they were open. */
  readonly #leaving = new Set<string>();

  constructor(behaviour: Behaviour) {
    this.#behaviour = behaviour;
  }

  /** How a path is kept, whatever its case. */
  key(path: string): string {
    return this.#behaviour.ignoresCase ? path.toLowerCase() : path;
  }

  openSync(path: string, mode: OpenMode): number {
    const key = this.#there(path, "open");
    const fd = this.inner.openSync(key, mode);
    this.#opened.set(fd, key);
    if (mode === "create") this.#spelled.set(key, path);
    return fd;
  }

  closeSync(fd: number): void {
    this.inner.closeSync(fd);
    const key = this.#opened.get(fd);
    this.#opened.delete(fd);
    if (key === undefined || !this.#leaving.has(key) || this.#isOpen(key)) return;
    this.#leaving.delete(key);
    this.inner.unlinkSync(key);
  }

  readSync(...args: Parameters<FileSystem["readSync"]>): number {
    return this.inner.readSync(...args);
  }

  read(...args: Parameters<FileSystem["read"]>): Promise<number> {
    return this.inner.read(...args);
  }

  writeSync(...args: Parameters<FileSystem["writeSync"]>): number {
    return this.inner.writeSync(...args);
  }

  updateSync(...args: Parameters<FileSystem["updateSync"]>): number {
    return this.inner.updateSync(...args);
  }

  statSync(path: string): FileStat | null {
    const stat = this.inner.statSync(this.#there(path, "stat"));
    return stat && this.#shown(stat);
  }

  fstatSync(fd: number): FileStat {
    return this.#shown(this.inner.fstatSync(fd));
  }

  fdatasyncSync(fd: number): void {
    this.inner.fdatasyncSync(fd);
  }

  fdatasync(fd: number): Promise<void> {
    return this.inner.fdatasync(fd);
  }

  syncDirectorySync(path: string): void {
    // As the adapter for Node does on Windows.
    if (this.#behaviour.hasUsers) this.inner.syncDirectorySync(this.key(path));
  }

  linkSync(from: string, to: string): void {
    if (!this.#behaviour.hasHardLinks) throw fileError("EPERM", "link", from, to);
    this.inner.linkSync(this.#there(from, "link"), this.#there(to, "link"));
    this.#spelled.set(this.key(to), to);
  }

  renameSync(from: string, to: string): void {
    const [source, target] = [this.#there(from, "rename"), this.#there(to, "rename")];
    const isHeld = this.#behaviour.holdsOpenFiles && source !== target && this.#isOpen(target);
    if (isHeld) throw fileError("EPERM", "rename", from, to);
    this.inner.renameSync(source, target);
    for (const [fd, key] of this.#opened) if (key === source) this.#opened.set(fd, target);
    this.#spelled.set(target, to);
  }

  unlinkSync(path: string): void {
    const key = this.#there(path, "unlink");
    if (this.#behaviour.holdsOpenFiles && this.#isOpen(key)) this.#leaving.add(key);
    else this.inner.unlinkSync(key);
  }

  setModeSync(fd: number, mode: number): void {
    if (this.#behaviour.hasUsers) this.inner.setModeSync(fd, mode);
  }

  makeDirectorySync(path: string): void {
    this.inner.makeDirectorySync(this.key(path));
  }

  listSync(path: string): readonly string[] {
    const key = this.key(path);
    return this.inner.listSync(key).map((name) => {
      const spelled = this.#spelled.get(`${key}/${name}`);
      return spelled?.slice(spelled.lastIndexOf("/") + 1) ?? name;
    });
  }

  realpathSync(path: string): string {
    const key = this.inner.realpathSync(this.key(path));
    return this.#spelled.get(key) ?? (this.#behaviour.ignoresCase ? key : path);
  }

  userId(): number | undefined {
    return this.#behaviour.hasUsers ? this.inner.userId() : undefined;
  }

  #there(path: string, syscall: string): string {
    const key = this.key(path);
    if (this.#leaving.has(key)) throw fileError("EPERM", syscall, path);
    return key;
  }

  #isOpen(key: string): boolean {
    return [...this.#opened.values()].includes(key);
  }

  #shown(stat: FileStat): FileStat {
    const { hasUsers, granularityMs } = this.#behaviour;
    const rounded = (ms: number): number =>
      granularityMs === 0 ? ms : Math.floor(ms / granularityMs) * granularityMs;
    return {
      ...stat,
      mtimeMs: rounded(stat.mtimeMs),
      ctimeMs: rounded(stat.ctimeMs),
      mode: hasUsers ? stat.mode : stat.mode | 0o666,
      uid: hasUsers ? stat.uid : 0,
    };
  }
}

export interface SimulatedSystem {
  readonly fs: SimulatedFileSystem;
  readonly ports: Ports;
}

export function simulatedSystem(name: SystemName): SimulatedSystem {
  const fs = new SimulatedFileSystem(systems[name]);
  const locks = new MemoryLock();
  // The file that is the lock is beside the log: its name is found in any case, too.
  const lock: FileLock = { tryAcquireSync: (path) => locks.tryAcquireSync(fs.key(path)) };
  return { fs, ports: createMemoryPorts({ fs, lock }) };
}
