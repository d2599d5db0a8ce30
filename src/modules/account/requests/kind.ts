// Block kind of short calls: what the request log keeps of calls that succeeded in less than a second. Records lie in the order of their numbers.
import type { BlockDraft, BlockKind, StoredBlock } from '../../../blocks/block.ts';
import {
  type Dictionary,
  packDictionary,
  packIntegers,
  packTexts,
  type Texts,
  unpackDictionary,
  unpackIntegers,
  unpackTexts,
} from '../../../blocks/columns.ts';
import { Marks } from '../../../blocks/marks.ts';
import type { EntryForm } from '../../../core/callers/entry-form.ts';
import { REQUEST_DAYS, type StoredRequest } from '../../../core/requests/store.ts';
import { sequenceAt, sequenceMs } from '../../../lib/sequence.ts';
import { HOUR_MS } from '../../../lib/time.ts';

const RECORDS_MAX = 10_000;

export const callsKind: BlockKind = {
  name: 'requests',
  source: import.meta.url,
  exportName: 'callsKind',
  spanMs: HOUR_MS,
  recordsMax: RECORDS_MAX,
  keepDays: { standard: REQUEST_DAYS, max: REQUEST_DAYS },
  hotDays: null,
  merge: (blocks) => draftsOf(blocks.flatMap((block) => new StoredCalls(block).all())),
};

export const CALL_COLUMNS = [
  ...['ms', 'low', 'request_id', 'trace_id', 'capability', 'method', 'path', 'entry_form', 'caller_id', 'vendor'],
  ...['address', 'status', 'latency_ms', 'cost_nanos', 'bytes_in', 'bytes_out', 'replay'],
] as const;

/** What a call is found by: a block without the mark does not hold it. */
export const callMarks = {
  requestId: (id: string) => `r=${id}`,
  traceId: (id: string) => `t=${id}`,
  capability: (id: string) => `c=${id}`,
  callerId: (id: string) => `k=${id}`,
  entryForm: (form: string) => `e=${form}`,
  status: (status: number) => `s=${status}`,
};

/** Calls as blocks, each of one hour; a call that is there twice is taken once. */
export function draftsOf(calls: readonly StoredRequest[]): BlockDraft[] {
  const ordered = [...new Map(calls.map((call) => [call.seq, call])).values()].sort((a, b) => (a.seq < b.seq ? -1 : 1));
  const hours = Map.groupBy(ordered, ({ seq }) => Math.floor(sequenceMs(seq) / HOUR_MS));
  return [...hours.values()].flatMap((hour) =>
    Array.from({ length: Math.ceil(hour.length / RECORDS_MAX) }, (_, i) =>
      packCalls(hour.slice(i * RECORDS_MAX, (i + 1) * RECORDS_MAX)),
    ),
  );
}

function packCalls(calls: readonly StoredRequest[]): BlockDraft {
  const marks = new Marks();
  for (const call of calls) {
    marks.addNew(callMarks.requestId(call.request_id));
    marks.addNew(callMarks.traceId(call.trace_id));
    marks.add(callMarks.capability(call.capability));
    marks.add(callMarks.callerId(call.caller_id));
    marks.add(callMarks.entryForm(call.entry_form));
    marks.add(callMarks.status(call.status));
  }
  const ms = calls.map(({ seq }) => sequenceMs(seq));
  const dictionary = (of: (call: StoredRequest) => string | null) => packDictionary(calls.map(of));
  const integers = (of: (call: StoredRequest) => number) => packIntegers(calls.map(of));
  return {
    fromMs: ms[0] as number,
    toMs: ms.at(-1) as number,
    records: calls.length,
    summary: Buffer.alloc(0),
    marks: marks.pack(),
    columns: new Map([
      ['ms', packIntegers(ms)],
      ['low', integers(({ seq }) => Number(seq - sequenceAt(sequenceMs(seq))))],
      ['request_id', packTexts(calls.map(({ request_id }) => request_id))],
      ['trace_id', packTexts(calls.map(({ trace_id }) => trace_id))],
      ['capability', dictionary(({ capability }) => capability)],
      ['method', dictionary(({ method }) => method)],
      ['path', dictionary(({ path }) => path)],
      ['entry_form', dictionary(({ entry_form }) => entry_form)],
      ['caller_id', dictionary(({ caller_id }) => caller_id)],
      ['vendor', dictionary(({ vendor }) => vendor)],
      ['address', dictionary(({ address }) => address)],
      ['status', integers(({ status }) => status)],
      ['latency_ms', integers(({ latency_ms }) => latency_ms)],
      ['cost_nanos', integers(({ cost_nanos }) => Number(cost_nanos))],
      // One more; 0: it is not known.
      ['bytes_in', integers(({ bytes_in }) => (bytes_in === null ? 0 : Number(bytes_in) + 1))],
      ['bytes_out', integers(({ bytes_out }) => (bytes_out === null ? 0 : Number(bytes_out) + 1))],
      ['replay', integers(({ replay }) => Number(replay))],
    ]),
  };
}

type DictionaryColumn = 'capability' | 'method' | 'path' | 'entry_form' | 'caller_id' | 'vendor' | 'address';
type IntegerColumn = 'ms' | 'low' | 'status' | 'latency_ms' | 'cost_nanos' | 'bytes_in' | 'bytes_out' | 'replay';

/** The calls of a block; a column is unpacked when it is first asked for. */
export class StoredCalls {
  readonly records: number;
  readonly #columns: StoredBlock['columns'];
  readonly #dictionaries = new Map<string, Dictionary>();
  readonly #integers = new Map<string, Float64Array>();
  readonly #texts = new Map<string, Texts>();

  constructor({ records, columns }: StoredBlock) {
    this.records = records;
    this.#columns = columns;
  }

  seq(record: number): bigint {
    return sequenceAt(this.integer('ms', record)) + BigInt(this.integer('low', record));
  }

  integer(name: IntegerColumn, record: number): number {
    return this.#columnOf(this.#integers, name, unpackIntegers)[record] as number;
  }

  value(name: DictionaryColumn, record: number): string | null {
    const { values, ids } = this.#columnOf(this.#dictionaries, name, unpackDictionary);
    return values[ids[record] as number] as string | null;
  }

  text(name: 'request_id' | 'trace_id', record: number): string {
    return this.#columnOf(this.#texts, name, unpackTexts).at(record);
  }

  all(): StoredRequest[] {
    return Array.from({ length: this.records }, (_, record) => this.call(record));
  }

  call(record: number): StoredRequest {
    const word = (name: DictionaryColumn) => this.value(name, record) as string;
    return {
      seq: this.seq(record),
      request_id: this.text('request_id', record),
      trace_id: this.text('trace_id', record),
      capability: word('capability'),
      method: word('method'),
      path: word('path'),
      entry_form: word('entry_form') as EntryForm,
      caller_id: word('caller_id'),
      status: this.integer('status', record),
      code: null,
      message: null,
      param: null,
      latency_ms: this.integer('latency_ms', record),
      cost_nanos: BigInt(this.integer('cost_nanos', record)),
      bytes_in: lessOne(this.integer('bytes_in', record)),
      bytes_out: lessOne(this.integer('bytes_out', record)),
      replay: this.integer('replay', record) === 1,
      vendor: this.value('vendor', record),
      input: null,
      address: this.value('address', record),
    };
  }

  #columnOf<Column>(known: Map<string, Column>, name: string, unpack: (packed: Uint8Array) => Column): Column {
    let column = known.get(name);
    if (column === undefined) {
      column = unpack(this.#columns.get(name) as Uint8Array);
      known.set(name, column);
    }
    return column;
  }
}

function lessOne(value: number): bigint | null {
  return value === 0 ? null : BigInt(value - 1);
}
