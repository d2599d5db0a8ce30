// One call in the request log: the data that the gateway passes when the call ends, and the row built from it. Inputs and messages are scrubbed
// of secrets here, in slices of a few milliseconds, and never before the call's answer.
import { cleanText, firstCharacters } from '../../lib/clean-text.ts';
import { scrubEvent } from '../../lib/scrub/scrub.ts';
import { MODE, scrubText } from '../../lib/scrub/text.ts';
import { sequenceAt } from '../../lib/sequence.ts';
import { TimeSlices } from '../../lib/time-slices.ts';
import type { EntryForm } from '../callers/entry-form.ts';

/** Characters of an input that a row keeps. A longer input than this many bytes is not kept: it is looked at as a whole, or its secrets are not found. */
export const INPUT_CHARACTERS_MAX = 4_096;
export const INPUT_BYTES_MAX = 16_384;
const TEXT_CHARACTERS_MAX = 500;
const HIDDEN = '[scrubbed]';
/** Rows of one millisecond differ by these; where two processes hit upon the same, one row is lost. */
const COUNTER_MAX = 2 ** 22;

export interface RequestInfo {
  readonly accountId: string;
  readonly requestId: string;
  readonly traceId: string;
  readonly capability: string;
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly entryForm: EntryForm;
  /** The key, or the person. */
  readonly callerId: string;
  readonly status: number;
  /** Of a failure. */
  readonly code: string | null;
  readonly message: string | null;
  readonly param: string | null;
  readonly latencyMs: number;
  readonly costNanos: bigint;
  /** Null: it is not known. */
  readonly bytesIn: number | null;
  readonly bytesOut: number | null;
  readonly replay: boolean;
  readonly vendor: string | null;
  /** JSON text; null: there is none, or it is not kept. */
  readonly input: string | null;
  /** Network of the caller; null: a call that did not come by a connection of its own. */
  readonly address: string | null;
}

export interface LoggedCall extends RequestInfo {
  /** By performance.now(). */
  readonly endedMs: number;
  /** A write of the account itself: it also stands in the audit log. */
  readonly isAudit: boolean;
  /** As it was sent, of at most INPUT_BYTES_MAX; null: it was longer, there is none, or it is not kept. */
  readonly input: string | null;
  /** Members of the input that are secret, whatever they look like: names on the way to each, through lists too. */
  readonly secretFields: readonly (readonly string[])[];
  /** Its place in the log once it has one: it is not written twice. */
  seq: bigint | null;
}

export interface RequestRow extends RequestInfo {
  readonly seq: bigint;
  readonly isAudit: boolean;
}

const slices = new TimeSlices();
let counter = Math.floor(Math.random() * COUNTER_MAX);

/** The rows of calls that ended before `nowMs`, which the database says it is. */
export async function rowsOf(calls: readonly LoggedCall[], nowMs: number): Promise<RequestRow[]> {
  const hereMs = performance.now();
  const rows: RequestRow[] = [];
  for (const call of calls) {
    if (slices.isOver) await slices.next();
    call.seq ??= sequenceAt(nowMs - (hereMs - call.endedMs)) + BigInt(nextCounter());
    rows.push({
      ...call,
      seq: call.seq,
      path: entryText(call.path),
      message: call.message === null ? null : entryText(scrubText(call.message, MODE.usual)),
      param: call.param === null ? null : entryText(call.param),
      input: call.input === null ? null : shownInput(call.input, call.secretFields),
    });
  }
  return rows;
}

function nextCounter(): number {
  counter = (counter + 1) % COUNTER_MAX;
  return counter;
}

function entryText(text: string): string {
  return firstCharacters(cleanText(text), TEXT_CHARACTERS_MAX);
}

function shownInput(text: string, secretFields: LoggedCall['secretFields']): string | null {
  const scrubbed = withoutSecrets(text, secretFields);
  return scrubbed === null ? null : firstCharacters(scrubbed, INPUT_CHARACTERS_MAX);
}

/** An input as people may see it. Null of what is no JSON: some secrets are known only by their place in it. */
export function withoutSecrets(text: string, secretFields: LoggedCall['secretFields']): string | null {
  const value = parseJson(text);
  if (value === undefined) return null;
  return cleanText(JSON.stringify(scrubEvent(secretFields.reduce(hide, value))));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A list in place of an object is looked through: what is refused for its shape is logged too. */
function hide(value: unknown, [name, ...further]: readonly string[]): unknown {
  if (name === undefined) return HIDDEN;
  if (Array.isArray(value)) return value.map((each) => hide(each, [name, ...further]));
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return value;
  return { ...value, [name]: hide((value as Record<string, unknown>)[name], further) };
}
