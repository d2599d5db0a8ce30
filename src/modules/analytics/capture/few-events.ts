// Packs the few events of short calls together: one block for each account and span of the commit.
import type { BlockDraft } from '../../../blocks/block.ts';
import { numbersOf, packFew, spansOf } from '../events/pack.ts';
import type { ReadyEvents } from '../intake/ready-events.ts';

export interface FewEvents {
  readonly input: ReadyEvents;
  readonly persons: Int32Array;
  readonly firstSeq: bigint;
}

interface Row {
  readonly call: FewEvents;
  readonly event: number;
  readonly timeMs: number;
  readonly seq: bigint;
}

export function draftsOfFew(calls: readonly FewEvents[]): { readonly blockId: bigint; readonly draft: BlockDraft }[] {
  const rows: Row[] = calls.flatMap((call) =>
    Array.from(call.input.times, (timeMs, event) => ({
      call,
      event,
      timeMs,
      seq: call.firstSeq + BigInt(event),
    })).filter(({ event }) => call.persons[event] !== 0),
  );
  rows.sort((a, b) => a.timeMs - b.timeMs);
  const times = Float64Array.from(rows, ({ timeMs }) => timeMs);
  return spansOf(times).map(([start, end]) => packRows(rows.slice(start, end)));
}

function packRows(rows: readonly Row[]): { readonly blockId: bigint; readonly draft: BlockDraft } {
  const names = new Map<string, number>();
  const uuids = new Uint8Array(rows.length * 16);
  const nameOf = new Uint32Array(rows.length);
  for (const [row, { call, event }] of rows.entries()) {
    const { input } = call;
    uuids.set(input.uuids.subarray(event * 16, event * 16 + 16), row * 16);
    const name = input.names[input.nameOf[event] as number] as string;
    if (!names.has(name)) names.set(name, names.size);
    nameOf[row] = names.get(name) as number;
  }
  const of = (pick: (input: ReadyEvents, event: number) => number) =>
    rows.map(({ call, event }) => pick(call.input, event));
  const events = {
    names: [...names.keys()],
    nameOf,
    uuids,
    times: Float64Array.from(rows, ({ timeMs }) => timeMs),
    bots: Uint8Array.from(of(({ bots }, event) => bots[event] as number)),
    hasUuid: Uint8Array.from(of(({ hasUuid }, event) => hasUuid[event] as number)),
  };
  const persons = Int32Array.from(rows, ({ call, event }) => call.persons[event] as number);
  const properties = rows.map(({ call, event }) => call.input.properties?.[event] ?? '');
  const seqs = rows.map(({ seq }) => seq);
  const blockId = seqs.reduce((least, seq) => (seq < least ? seq : least));
  return { blockId, draft: packFew(events, persons, properties, numbersOf(seqs)) };
}
