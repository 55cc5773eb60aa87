/** A log that is made of files of an agent, which alone writes them: it is read and followed. */
import { basename, dirname } from "node:path";
import { BranchlogError } from "../errors.ts";
import { watchWithPoll } from "../platform/polled-hints.ts";
import type { Ports } from "../platform/ports.ts";
import type { StoredAppend } from "./log-store.ts";

export interface FileReading {
  readonly ports: Pick<Ports, "fs" | "clock" | "hints">;
  readonly pollMs: number;
}

export class FollowedLog {
  readonly name: string;
  readonly address: string;
  protected readonly reading: FileReading;

  constructor(path: string, reading: FileReading) {
    this.name = basename(path);
    this.address = path;
    this.reading = reading;
  }

  /** Never asked: what an agent owns is only read. */
  append(): Promise<StoredAppend> {
    const { address: path } = this;
    return Promise.reject(new BranchlogError("ERR_READ_ONLY", `${path} is read-only.`, { path }));
  }

  watch(onHint: () => void): () => void {
    const { ports, pollMs } = this.reading;
    const directory = dirname(this.address);
    return watchWithPoll({ ports, directory, pollMs }, (name) => {
      if (name === null || this.isOwn(name)) onHint();
    });
  }

  /** Whether a change of the file with that name, next to the log, is one of the log. */
  protected isOwn(name: string): boolean {
    return name === this.name;
  }
}
