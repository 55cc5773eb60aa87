/** Random sequences of file system calls, and the answers of an adapter in comparable form. */
import { join } from "node:path";
import * as fc from "fast-check";
import type { FileSystem, OpenMode } from "@branchlog/core/testing";

/** A call; `file`, `to` and `fd` choose among few, so that calls meet. */
export type Call =
  | { readonly kind: "open"; readonly file: string; readonly mode: OpenMode }
  | { readonly kind: "write"; readonly fd: number; readonly text: string }
  | { readonly kind: "read"; readonly fd: number; readonly position: number }
  | { readonly kind: "rename" | "link"; readonly file: string; readonly to: string }
  | { readonly kind: "unlink" | "stat" | "mkdir" | "list"; readonly file: string };

// Directories are not renamed or unlinked: there the operating systems differ.
const names = ["a", "b", "c", "dir/a", "dir/b"] as const;
const file = fc.constantFrom(...names, "gone/a", "a/below");
const directory = fc.constantFrom("dir", "dir/deep", "gone");
const fd = fc.nat(3);

// A number that no descriptor has.
const notOpen = 2 ** 30;

/** Up to 40 calls on a handful of names. */
export const arbitraryCalls: fc.Arbitrary<Call[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("open" as const),
      file,
      mode: fc.constantFrom<OpenMode[]>("read", "append", "create"),
    }),
    fc.record({ kind: fc.constant("write" as const), fd, text: fc.string({ maxLength: 9 }) }),
    fc.record({ kind: fc.constant("read" as const), fd, position: fc.nat(20) }),
    fc.record({ kind: fc.constantFrom("rename" as const, "link" as const), file, to: file }),
    fc.record({ kind: fc.constantFrom("unlink" as const, "stat" as const), file }),
    fc.record({ kind: fc.constantFrom("mkdir" as const, "list" as const), file: directory }),
  ),
  { maxLength: 40 },
);

/** What each call answered: a value without inode numbers and times, or the code of its error. */
export function answers(fs: FileSystem, root: string, calls: readonly Call[]): unknown[] {
  const fds: number[] = [];
  const results = calls.map((call) => {
    try {
      return answer(fs, root, call, fds);
    } catch (error) {
      return error instanceof Error && "code" in error ? error.code : error;
    }
  });
  for (const open of fds) fs.closeSync(open);
  return results;
}

function answer(fs: FileSystem, root: string, call: Call, fds: number[]): unknown {
  switch (call.kind) {
    case "open":
      return fds.push(fs.openSync(join(root, call.file), call.mode));
    case "write": {
      const bytes = Buffer.from(call.text);
      return fs.writeSync(fds[call.fd] ?? notOpen, bytes, 0, bytes.length);
    }
    case "read": {
      const target = Buffer.alloc(9);
      const count = fs.readSync(fds[call.fd] ?? notOpen, target, 0, 9, call.position);
      return { count, text: target.toString() };
    }
    case "rename":
      return fs.renameSync(join(root, call.file), join(root, call.to));
    case "link":
      return fs.linkSync(join(root, call.file), join(root, call.to));
    case "unlink":
      return fs.unlinkSync(join(root, call.file));
    case "mkdir":
      return fs.makeDirectorySync(join(root, call.file));
    case "list":
      return [...fs.listSync(join(root, call.file))].sort();
    case "stat":
      return statAnswer(fs, root, call.file);
  }
}

/** The inode is determined by the names that share it, as its number differs. */
function statAnswer(fs: FileSystem, root: string, path: string): unknown {
  const stat = fs.statSync(join(root, path));
  if (stat === null) return null;
  const { isFile, isDirectory, ino } = stat;
  const shared = names.filter((name) => inodeAt(fs, join(root, name)) === ino);
  return { isFile, isDirectory, size: isFile ? stat.size : 0, shared };
}

function inodeAt(fs: FileSystem, path: string): number | undefined {
  try {
    return fs.statSync(path)?.ino;
  } catch {
    return undefined;
  }
}
