// Analytics events of a shop as blocks in the database, as merges leave them: 200,000 people, eight names, five properties.
import { sendBlocks } from '../../src/blocks/send.ts';
import { Database } from '../../src/db/database.ts';
import type { Connection } from '../../src/db/embedded/index.ts';
import { makeDayPartitions } from '../../src/db/partitions.ts';
import { sequenceAt } from '../../src/lib/sequence.ts';
import { analyticsKind } from '../../src/modules/analytics/events/kind.ts';
import { numbersOf, packMerged } from '../../src/modules/analytics/events/pack.ts';
import { PropertyColumns } from '../../src/modules/analytics/events/property-columns.ts';

const DAY_MS = 86_400_000;
const BLOCK = 50_000;
const PEOPLE = 200_000;
/** What a block holds is made so often; the others are these at other times. */
const DISTINCT = 10;
export const eventNames = ['view', 'view', 'view', 'search', 'add_to_cart', 'checkout', 'sign_up', 'leave'];

let state = 7;
function below(n: number): number {
  state = (state * 48_271) % 2_147_483_647;
  return state % n;
}

export function propertiesOf(): Record<string, string | number> {
  return {
    plan: ['free', 'pro', 'team'][below(3)] as string,
    country: `c${below(40)}`,
    path: `/p/${below(500)}`,
    amount: below(10_000) / 100,
    referrer: `r${below(30)}`,
  };
}

interface Made {
  readonly persons: Int32Array;
  readonly nameOf: Uint32Array;
  readonly uuids: Uint8Array;
  readonly properties: ReadonlyMap<string, Uint8Array>;
}

function made(): Made {
  const properties = new PropertyColumns();
  const order = Uint32Array.from({ length: BLOCK }, (_, i) => i);
  for (const i of order) properties.addObject(i, propertiesOf());
  return {
    persons: Int32Array.from(order, () => 1 + below(PEOPLE)),
    nameOf: Uint32Array.from(order, () => below(eventNames.length)),
    uuids: Uint8Array.from({ length: BLOCK * 16 }, () => below(256)),
    properties: properties.pack(order, BLOCK),
  };
}

/** Puts so many events of the seven days before `endMs`, a start of a day, into the database. */
export async function fillWeek(
  connection: Connection,
  accountId: string,
  events: number,
  endMs: number,
): Promise<void> {
  const all = Array.from({ length: DISTINCT }, made);
  const db = new Database({ connection });
  const startMs = endMs - 7 * DAY_MS;
  await makeDayPartitions(
    db,
    'core.block',
    Array.from({ length: 8 }, (_, day) => startMs + day * DAY_MS),
  );
  const perDay = Math.ceil(events / BLOCK / 7);
  const sliceMs = Math.floor(DAY_MS / perDay);
  for (let block = 0; block < perDay * 7; block += 1) {
    const { persons, nameOf, uuids, properties } = all[block % DISTINCT] as Made;
    const fromMs = startMs + Math.floor(block / perDay) * DAY_MS + (block % perDay) * sliceMs;
    const times = Float64Array.from({ length: BLOCK }, (_, i) => fromMs + Math.floor((i * sliceMs) / BLOCK));
    const blockId = sequenceAt(fromMs) + BigInt(block);
    const numbers = numbersOf(Array.from(times, (_, i) => blockId + BigInt(i)));
    const flags = { bots: new Uint8Array(BLOCK), hasUuid: new Uint8Array(BLOCK).fill(1) };
    const draft = packMerged({ times, names: eventNames, nameOf, uuids, ...flags }, persons, numbers, properties);
    await db.transaction(async (tx) => sendBlocks(tx, analyticsKind, [{ accountId, blockId, draft }], 1));
  }
  await db.end();
}
