// What a double needs to know of a vendor's wire: which request asks for what, and how the vendor says it.
import type { IncomingHttpHeaders } from 'node:http';

export type Operation = 'submit' | 'poll' | 'result' | 'cancel' | 'purge' | 'video' | 'list' | 'keys';
export type Refusal = 'content' | 'invalid' | 'auth' | 'funds' | 'busy' | 'concurrency' | 'down' | 'forbidden';
export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'expired';

export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface VendorCallSeen {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** JSON, or the fields of a form; undefined without either. */
  readonly body: unknown;
}

/** A job that the double has taken. Tests set its state, word and failure as they like. */
export interface DoubleJob {
  readonly reference: string;
  readonly model: string;
  /** As it was asked for. */
  readonly seconds: number;
  readonly callbackUrl: string | null;
  readonly submitted: VendorCallSeen;
  state: JobState;
  /** A word of its own in place of the vendor's. */
  word: string | null;
  progressPct: number;
  failure: 'content' | 'other';
  purged: boolean;
  /** A poll was answered with its end. */
  endTold: boolean;
  started: boolean;
  polls: number;
}

export interface Wire {
  /** The adapter's name. */
  readonly name: string;
  /** Where an adapter speaks several dialects. */
  readonly label?: string;
  readonly basePath: string;
  /** A model as the adapter's row names it, and the row's fields of its own. */
  readonly model: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** The header that carries the key. */
  authorization(key: string): string;
  /** Which job in which operation; null for a path that the vendor does not have. */
  route(method: string, path: string): { readonly operation: Operation; readonly reference?: string } | null;
  /** What a submit asks for. */
  work(call: VendorCallSeen): { model: string; seconds: number; callbackUrl: string | null };
  reference(n: number): string;
  accepted(job: DoubleJob, base: string): Reply;
  status(job: DoubleJob, urls: { readonly base: string; readonly video: string }): Reply;
  /** Where status and result are two answers. */
  result?(job: DoubleJob, video: string): Reply;
  /** What a callback says, where that is not the status. */
  callback?(job: DoubleJob, urls: { readonly video: string }): unknown;
  refusal(kind: Refusal): Reply;
  /** Whether a job in this state can be stopped: at once, by and by, or not. */
  stops(job: DoubleJob): 'stopped' | 'requested' | 'refused';
  answerCancel(job: DoubleJob, outcome: 'stopped' | 'requested' | 'refused'): Reply;
  unknownJob(): Reply;
  /** Where the video is at the vendor's own origin; elsewhere it is on the asset host. */
  readonly videoAtOrigin?: boolean;
}

export const CONTENT = 'The prompt was refused by the safety system.';
export const INVALID = 'The duration is not one that the model can do.';

export function refusals(table: Readonly<Record<Refusal, readonly [number, unknown]>>): (kind: Refusal) => Reply {
  return (kind) => ({ status: table[kind][0], body: table[kind][1] });
}
