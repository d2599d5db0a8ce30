// Intake of an ingest call, the same for every protocol: validates, cleans and packs records on their way to blocks. Long bodies are parsed in
// threads, so the result must survive structured cloning.
import type { BlockDraft } from '../../../blocks/block.ts';
import type { OtlpValue } from '../../../lib/otlp/values.ts';
import { AGE_MS_MAX, AHEAD_MS_MAX } from '../limits.ts';
import { LogBatch } from '../records/batch.ts';
import { NONE } from '../records/interned.ts';
import { draftsOf } from '../records/kind.ts';

/** A few records are packed in the commit, together with those of other calls. */
const FEW_RECORDS = 8;
const FEW_BYTES = 4 * 1024;
/** Reasons that are told. */
const REASONS_MAX = 1_000;

export interface Rejected {
  /** Its place in the call. */
  readonly index: number;
  readonly reason: string;
}

/** A clean record. */
export interface FewRecord {
  readonly timeMs: number;
  readonly level: number;
  readonly service: string;
  readonly message: string;
  readonly attributes: readonly (readonly [name: string, typed: string])[];
  readonly traceId: string | null;
  readonly spanId: string | null;
  readonly resource: string | null;
  readonly isCut: boolean;
}

export interface ReadyLogs {
  readonly records: number;
  /** Of the records' JSON. */
  readonly bytes: number;
  readonly rejected: readonly Rejected[];
  readonly rejectedCount: number;
  /** Either all of it. */
  readonly drafts: readonly BlockDraft[];
  readonly few: readonly FewRecord[];
}

export interface SentIds {
  readonly traceId: string | null;
  readonly spanId: string | null;
}

export class Intake {
  readonly batch = new LogBatch();
  readonly #nowMs: number;
  readonly #recordsMax: number;
  readonly #rejected: Rejected[] = [];
  #rejectedCount = 0;
  #sent = 0;

  constructor(nowMs: number, recordsMax: number) {
    this.#nowMs = nowMs;
    this.#recordsMax = recordsMax;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  resource(members: Iterable<readonly [string, OtlpValue]>): number {
    return this.batch.resource(members);
  }

  attribute(name: string, value: OtlpValue): void {
    this.batch.attribute(name, value);
  }

  /** Takes or rejects a record with the attributes that were taken. `level`: its place in `levels`. */
  add(timeMs: number, level: number, service: string, message: string, ids: SentIds, resource = NONE): void {
    const reason = this.#reasonAgainst(timeMs);
    if (reason === null) this.batch.add(timeMs, level, { service, message }, ids, resource);
    else this.#reject(reason);
    this.#sent += 1;
  }

  ready(): ReadyLogs {
    const { batch } = this;
    const isFew = batch.size <= FEW_RECORDS && batch.bytes <= FEW_BYTES;
    return {
      records: batch.size,
      bytes: batch.bytes,
      rejected: this.#rejected,
      rejectedCount: this.#rejectedCount,
      drafts: isFew || batch.size === 0 ? [] : draftsOf(batch),
      few: isFew ? recordsOf(batch) : [],
    };
  }

  #reasonAgainst(timeMs: number): string | null {
    if (this.#sent >= this.#recordsMax) return `A request may have at most ${this.#recordsMax} records.`;
    if (!(timeMs >= this.#nowMs - AGE_MS_MAX)) return 'timestamp is more than 30 days old.';
    return timeMs > this.#nowMs + AHEAD_MS_MAX ? 'timestamp is more than 10 minutes ahead.' : null;
  }

  #reject(reason: string): void {
    this.batch.drop();
    this.#rejectedCount += 1;
    if (this.#rejected.length < REASONS_MAX) this.#rejected.push({ index: this.#sent, reason });
  }
}

function recordsOf(batch: LogBatch): FewRecord[] {
  const text = (texts: readonly string[], id: number) => (id === NONE ? null : (texts[id] as string));
  return batch.times.map((timeMs, i) => {
    const start = i === 0 ? 0 : (batch.ends[i - 1] as number);
    const names = batch.names.slice(start, batch.ends[i]);
    return {
      timeMs,
      level: batch.levels[i] as number,
      service: batch.serviceTexts.texts[batch.services[i] as number] as string,
      message: batch.messageTexts.texts[batch.messages[i] as number] as string,
      attributes: names.map(
        (name, j) =>
          [
            batch.nameTexts.texts[name] as string,
            batch.valueTexts.texts[batch.values[start + j] as number] as string,
          ] as const,
      ),
      traceId: text(batch.traceTexts.texts, batch.traces[i] as number),
      spanId: text(batch.spanTexts.texts, batch.spans[i] as number),
      resource: text(batch.resourceTexts.texts, batch.resources[i] as number),
      isCut: batch.cuts[i] as boolean,
    };
  });
}

/** Takes clean records as they are. */
export function takeFew(batch: LogBatch, records: readonly FewRecord[]): void {
  const id = (texts: { id(text: string): number }, text: string | null) => (text === null ? NONE : texts.id(text));
  for (const record of records) {
    batch.times.push(record.timeMs);
    batch.levels.push(record.level);
    batch.services.push(batch.serviceTexts.id(record.service));
    batch.messages.push(batch.messageTexts.id(record.message));
    for (const [name, typed] of record.attributes) {
      batch.names.push(batch.nameTexts.id(name));
      batch.values.push(batch.valueTexts.id(typed));
    }
    batch.ends.push(batch.names.length);
    batch.traces.push(batch.traceTexts.id(record.traceId));
    batch.spans.push(batch.spanTexts.id(record.spanId));
    batch.resources.push(id(batch.resourceTexts, record.resource));
    batch.cuts.push(record.isCut);
  }
}
