// Block kind of events: small blocks of a day are merged in the order of time. Events that no longer count are left out.
import type { BlockDraft, BlockKind, StoredBlock } from '../../../blocks/block.ts';
import { BLOCK_RECORDS_MAX, KEEP_DAYS, SPAN_MS } from '../limits.ts';
import { type EventColumns, numbersOf, packMerged } from './pack.ts';
import { PropertyColumns } from './property-columns.ts';
import { objectOf, StoredEvents } from './stored-events.ts';

export const analyticsKind: BlockKind = {
  name: 'analytics',
  source: import.meta.url,
  exportName: 'analyticsKind',
  spanMs: SPAN_MS,
  recordsMax: BLOCK_RECORDS_MAX,
  keepDays: KEEP_DAYS,
  hotDays: 30,
  merge: (blocks) => mergeEvents(blocks, () => true),
};

/** The events of the blocks that have a person, and whose number `isKept` says yes to. */
export function mergeEvents(blocks: readonly StoredBlock[], isKept: (number: number) => boolean): BlockDraft[] {
  const all = new Gathered(blocks, isKept);
  const drafts: BlockDraft[] = [];
  for (let from = 0; from < all.order.length; from += BLOCK_RECORDS_MAX) {
    drafts.push(all.pack(all.order.subarray(from, from + BLOCK_RECORDS_MAX)));
  }
  return drafts;
}

class Gathered {
  /** Events in the order of time and then of numbers. */
  readonly order: Uint32Array;
  readonly #count: number;
  readonly #times: Float64Array;
  readonly #persons: Int32Array;
  readonly #nameOf: Uint32Array;
  readonly #names: string[] = [];
  readonly #nameIds = new Map<string, number>();
  readonly #bots: Uint8Array;
  readonly #uuids: Uint8Array;
  readonly #hasUuid: Uint8Array;
  readonly #numbers: BigInt64Array;
  readonly #properties = new PropertyColumns();

  constructor(blocks: readonly StoredBlock[], isKept: (number: number) => boolean) {
    const room = blocks.reduce((sum, { records }) => sum + records, 0);
    this.#times = new Float64Array(room);
    this.#persons = new Int32Array(room);
    this.#nameOf = new Uint32Array(room);
    this.#bots = new Uint8Array(room);
    this.#uuids = new Uint8Array(room * 16);
    this.#hasUuid = new Uint8Array(room);
    this.#numbers = new BigInt64Array(room);
    let at = 0;
    for (const block of blocks) at = this.#take(new StoredEvents(block), at, isKept);
    this.#count = at;
    const [times, numbers] = [this.#times, this.#numbers];
    this.order = Uint32Array.from({ length: at }, (_, i) => i).sort((a, b) => {
      const apart = (times[a] as number) - (times[b] as number);
      if (apart !== 0) return apart;
      return (numbers[a] as bigint) < (numbers[b] as bigint) ? -1 : 1;
    });
  }

  pack(order: Uint32Array): BlockDraft {
    const uuids = new Uint8Array(order.length * 16);
    for (const [row, event] of order.entries()) uuids.set(this.#uuids.subarray(event * 16, event * 16 + 16), row * 16);
    const columns: EventColumns = {
      times: Float64Array.from(order, (event) => this.#times[event] as number),
      names: this.#names,
      nameOf: Uint32Array.from(order, (event) => this.#nameOf[event] as number),
      bots: Uint8Array.from(order, (event) => this.#bots[event] as number),
      uuids,
      hasUuid: Uint8Array.from(order, (event) => this.#hasUuid[event] as number),
    };
    const persons = Int32Array.from(order, (event) => this.#persons[event] as number);
    const numbers = numbersOf(Array.from(order, (event) => this.#numbers[event] as bigint));
    return packMerged(columns, persons, numbers, this.#properties.pack(order, this.#count));
  }

  /** Answers where the next event stands. */
  #take(events: StoredEvents, from: number, isKept: (number: number) => boolean): number {
    const { times } = events;
    const persons = events.persons();
    const names = events.names();
    const nameIds = names.values.map((name) => this.#nameId(name as string));
    const [bots, uuids, sent, numbers] = [events.bots(), events.uuids(), events.sentUuids(), events.numbers()];
    const eventOf = new Int32Array(events.records).fill(-1);
    let at = from;
    for (let row = 0; row < events.records; row += 1) {
      const person = persons[row] as number;
      if (person === 0 || !isKept(person)) continue;
      eventOf[row] = at;
      this.#times[at] = times[row] as number;
      this.#persons[at] = person;
      this.#nameOf[at] = nameIds[names.ids[row] as number] as number;
      this.#bots[at] = bots?.[row] ?? 0;
      this.#hasUuid[at] = uuids === null ? 0 : (sent?.[row] ?? 1);
      if (uuids !== null) this.#uuids.set(uuids.subarray(row * 16, row * 16 + 16), at * 16);
      this.#numbers[at] = numbers[row] as bigint;
      at += 1;
    }
    for (const [name, column] of events.dictionaries()) this.#properties.addDictionary(name, column, eventOf);
    const rest = events.rest();
    for (let row = 0; rest !== null && row < events.records; row += 1) {
      const object = (eventOf[row] as number) < 0 ? null : objectOf(rest.at(row));
      if (object !== null) this.#properties.addObject(eventOf[row] as number, object);
    }
    return at;
  }

  #nameId(name: string): number {
    let id = this.#nameIds.get(name);
    if (id === undefined) {
      id = this.#names.length;
      this.#names.push(name);
      this.#nameIds.set(name, id);
    }
    return id;
  }
}
