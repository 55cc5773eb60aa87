/**
 * Large images of omp stand in files of their own, named by the checksum of their bytes; an entry
 * holds a reference in their place. Finds the references in what was stored, and puts what they
 * stand for in their places. Pure; the values given are never changed.
 */
import { isStoredObject } from "./stored-value.ts";

/** How bytes stand in a message: as base64, or as the text that they are. */
export type BlobForm = "base64" | "text";

/** Says what a reference stands for; undefined leaves it in its place. */
export type BlobReader = (sha256: string, form: BlobForm) => string | undefined;

const reference = /^blob:sha256:([0-9a-f]{64})$/;

/**
 * The checksum that a reference names, 64 lower-case hexadecimal digits; undefined if it is none.
 */
export function blobChecksum(value: unknown): string | undefined {
  return typeof value === "string" ? reference.exec(value)?.[1] : undefined;
}

/** Something that was stored, and the copy that its parts go to. */
interface Place {
  readonly holder: object;
  readonly value: object;
}

/**
 * A copy of a value, references replaced: `data` of images, `result` of generated images, and
 * `image_url`. Those of video frames stay. Linear, without recursion.
 */
export function withBlobs<T>(value: T, read: BlobReader): T {
  const root: { value?: unknown } = {};
  const open: Place[] = [];
  const put = (holder: object, key: string, item: unknown): void => {
    const isShared = typeof item !== "object" || item === null || key === "frames";
    const copy: unknown = isShared ? item : Array.isArray(item) ? [] : {};
    // Assigning `__proto__` would set the prototype.
    const traits = { value: copy, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(holder, key, traits);
    if (!isShared) open.push({ holder: copy as object, value: item });
  };
  put(root, "value", value);
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    for (const [key, item] of Object.entries(place.value)) {
      put(place.holder, key, replacement(place.value, key, item, read) ?? item);
    }
  }
  // Cast: a copy of the value, in which some strings are others.
  return root.value as T;
}

function replacement(
  holder: object,
  key: string,
  item: unknown,
  read: BlobReader,
): string | undefined {
  const sha256 = blobChecksum(item);
  if (sha256 === undefined) return undefined;
  if (key === "image_url") return read(sha256, "text");
  const type: unknown = isStoredObject(holder) ? Reflect.get(holder, "type") : undefined;
  const isImage = key === "data" && (type === "image" || type === undefined);
  const isGenerated = key === "result" && type === "image_generation_call";
  return isImage || isGenerated ? read(sha256, "base64") : undefined;
}
