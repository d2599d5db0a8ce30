// Where the bytes of films and images are kept. Keys are made by the service, never by users: letters, digits, `_`, `-`, `.` and `/`.

export interface AssetStore {
  /** A place for bytes that are being made, on a disk of this machine. Whoever asks removes it, or gives it to putFile. */
  workPath(): Promise<string>;
  /** Keeps the file at `path` under `key`, for good: after that it is there even when the machine loses power. The file is used up. */
  putFile(key: string, path: string): Promise<void>;
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** The bytes from `start` to `end`, both included. Throws AssetGone when there are none under the key. */
  open(key: string, start: number, end: number): AsyncIterable<Uint8Array>;
  /** All bytes of a small one. Throws AssetGone. */
  read(key: string): Promise<Buffer>;
  /** What is not there is not missed. */
  remove(key: string): Promise<void>;
  /** Keys of what was put before `beforeMs`, a bounded number behind `after`, in the order of their names. */
  list(after: string, beforeMs: number): Promise<string[]>;
  /** The mark that tells this store from another: the one it has, else `fresh`, which it has from then on. */
  mark(fresh: string): Promise<string>;
}

export class AssetGone extends Error {
  constructor(key: string) {
    super(`there is nothing under ${key}`);
    this.name = 'AssetGone';
  }
}
