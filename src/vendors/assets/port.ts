// Port of the asset store, for bytes that are too many for the database. Keys are made by the service, never by users: letters, digits, `_`,
// `-`, `.` and `/`.

export interface AssetStore {
  /** A place for bytes that are being made, on a disk of this machine. Whoever asks removes it, or gives it to putFile. */
  workPath(): Promise<string>;
  /** Keeps the file at `path` under `key`, for good: after that it is there even when the machine loses power. The file is used up. */
  putFile(key: string, path: string): Promise<void>;
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** The same under a key that is new, and that nobody knows before this is over: half of it may be there meanwhile. */
  putNew(key: string, bytes: Uint8Array): Promise<void>;
  /** The bytes from `start` to `end`, both included. Throws AssetGone when there are none under the key. */
  open(key: string, start: number, end: number): AsyncIterable<Uint8Array>;
  /** All bytes of a small one. Throws AssetGone. */
  read(key: string): Promise<Buffer>;
  /** What is not there is not missed. */
  remove(key: string): Promise<void>;
  /**
   * Keys that begin with `prefix`, of what was put before `beforeMs`: a bounded number behind `after`, in the order of their names; none:
   * there are no more.
   */
  list(prefix: string, after: string, beforeMs: number): Promise<string[]>;
  /** Removes what was begun before `beforeMs` and never put: of processes that died. */
  removeUnfinished(beforeMs: number): Promise<void>;
  /** The mark that tells this store from another; null: it has none yet. */
  readMark(): Promise<string | null>;
  /** Gives it the mark, unless it has one. Answers the one that it has then. */
  setMark(mark: string): Promise<string>;
}

export class AssetGone extends Error {
  constructor(key: string) {
    super(`there is nothing under ${key}`);
    this.name = 'AssetGone';
  }
}

/** The store does not do what it is asked to. The message says why, for the operator. */
export class AssetsUnavailable extends Error {
  /** The operator must mend something; else another try may succeed. */
  readonly isRefused: boolean;

  constructor(message: string, isRefused: boolean) {
    super(message);
    this.name = 'AssetsUnavailable';
    this.isRefused = isRefused;
  }
}

const keyPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/;

export const isAssetKey = (key: string): boolean => keyPattern.test(key);

/** Answers the key. Throws RangeError for what is none. */
export function requireAssetKey(key: string): string {
  if (!isAssetKey(key)) throw new RangeError(`no key of an asset: ${JSON.stringify(key.slice(0, 80))}`);
  return key;
}
