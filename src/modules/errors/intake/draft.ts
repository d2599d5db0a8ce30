// Draft of an event: the output of every entry (capture, message, the SDK endpoints), complete and within the limits, but not yet scrubbed.
// Plain JSON throughout.
import {
  BREADCRUMBS_MAX,
  type breadcrumbLevels,
  CONTEXT_LINES_MAX,
  type Environment,
  FRAMES_MAX,
  type Level,
  TAGS_MAX,
} from '../limits.ts';
import type { Grouping } from './fingerprint.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface StackFrame {
  readonly func: string;
  readonly file: string;
  readonly line: number;
  readonly col: number | null;
  readonly in_app: boolean;
  readonly context_pre: readonly string[] | null;
  readonly context_line: string | null;
  readonly context_post: readonly string[] | null;
  readonly vars: JsonObject | null;
  /** Of the function: a package and class, or a module. */
  readonly module?: string;
  /** Of native code, as the SDK writes it. */
  readonly instruction_addr?: string;
}

export interface ExceptionRecord {
  readonly type: string;
  readonly value: string;
  /** Where its class is from. */
  readonly module?: string;
  /** How it was caught. */
  readonly mechanism?: JsonObject;
  /** False: the program did not expect it. */
  readonly handled?: boolean;
  readonly stacktrace: readonly StackFrame[];
  /** The exceptions behind this one, nearest first; only SDKs send them. */
  readonly chain?: readonly ExceptionRecord[];
}

export interface Breadcrumb {
  /** Null: when the event was received. */
  readonly at: string | null;
  readonly category: string;
  readonly message: string;
  readonly level: (typeof breadcrumbLevels)[number] | null;
  readonly data: JsonObject | null;
}

/** As it is read. */
export interface DatedBreadcrumb extends Breadcrumb {
  readonly at: string;
}

export interface EventDraft {
  readonly grouping: Grouping;
  readonly level: Level;
  readonly title: string;
  readonly message: string | null;
  readonly environment: Environment | null;
  readonly release: string | null;
  readonly user_id: string | null;
  /** An e-mail or network address that tells users apart where user_id does not; never stored, see user-identity.ts. */
  readonly contact: string | null;
  readonly tags: Readonly<Record<string, string>>;
  /** Epoch milliseconds by the word of an SDK; null: when it is received. */
  readonly occurredAtMs: number | null;
  readonly exception: ExceptionRecord | null;
  readonly breadcrumbs: readonly Breadcrumb[];
  readonly context: JsonObject;
  readonly extra: JsonObject;
  readonly sdk: JsonObject | null;
  readonly runtime: JsonObject | null;
  readonly request: JsonObject | null;
  readonly user: JsonObject | null;
}

/** The parts of an event that only its full record shows. */
export type DetailParts = Pick<
  EventDraft,
  'exception' | 'breadcrumbs' | 'context' | 'extra' | 'sdk' | 'runtime' | 'request' | 'user'
>;

/** The same as it is stored: one JSON text. */
export interface EventDetail extends DetailParts {
  readonly fingerprint_source: Grouping['source'] | 'rule';
  readonly idempotency_key: string | null;
}

// The limits of an event (contract of errors). A crash report that is too long is cut, never refused: it may be the only one there is.

/** Frames made of what was sent, at most 250: the middle gives way to one frame that says how many were left out. */
export function trimFrames<T>(sent: readonly T[], make: (frame: T) => StackFrame): readonly StackFrame[] {
  if (sent.length <= FRAMES_MAX) return sent.map(make);
  const kept = FRAMES_MAX - 1;
  const head = Math.ceil(kept / 2);
  const left = sent.length - kept;
  const tail = sent.slice(sent.length - (kept - head));
  return [...sent.slice(0, head).map(make), omittedFrames(left), ...tail.map(make)];
}

function omittedFrames(frames: number): StackFrame {
  return {
    func: `(${frames} frames omitted)`,
    file: '',
    line: 0,
    col: null,
    in_app: false,
    context_pre: null,
    context_line: null,
    context_post: null,
    vars: null,
  };
}

/** The lines nearest to the one of the frame: the last of those before it, the first of those behind it. */
export function trimContext(lines: readonly string[] | null, side: 'pre' | 'post'): readonly string[] | null {
  if (lines === null) return null;
  return side === 'pre' ? lines.slice(-CONTEXT_LINES_MAX) : lines.slice(0, CONTEXT_LINES_MAX);
}

/** The latest 100 breadcrumbs. */
export function trimBreadcrumbs<T>(breadcrumbs: readonly T[]): readonly T[] {
  return breadcrumbs.slice(-BREADCRUMBS_MAX);
}

/** The first 100 tags. */
export function trimTags<T>(tags: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const entries = Object.entries(tags);
  return entries.length <= TAGS_MAX ? tags : Object.fromEntries(entries.slice(0, TAGS_MAX));
}
