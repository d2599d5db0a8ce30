import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statement } from '../../src/db/statement.ts';
import { DAY_MS, HOUR_MS } from '../../src/lib/time.ts';
import { randomOf, seed } from '../support/soak.ts';
import { blocksHarness } from './harness.ts';
import type { NumberRecord } from './numbers.ts';

type Harness = Awaited<ReturnType<typeof blocksHarness>>;
let harness: Harness;
beforeAll(async () => {
  harness = await blocksHarness();
});
afterAll(() => harness.close());

const levels = statement(
  'test_block_levels',
  `SELECT b.level, b.records, b.asset_key IS NOT NULL AS cold FROM core.block b
    WHERE b.account_id = $1 AND b.replaced_ms IS NULL ORDER BY b.seq, b.block_id`,
);
const rowsOf = async (accountId: string) =>
  (await harness.db.query<{ level: number; records: number; cold: boolean }>(levels, [accountId])).rows;

let numbered = 0;
const record = (timeMs: number, text = 'x'): NumberRecord => ({ timeMs, number: numbered++, text });

describe('blocks', () => {
  it('are found by time and by mark, and by no other', async () => {
    const accountId = await harness.makeAccount();
    const other = await harness.makeAccount();
    const hour = Math.floor(((await harness.now()) - 3 * HOUR_MS) / HOUR_MS) * HOUR_MS;
    const early = record(hour + 1, 'early');
    const late = record(hour + HOUR_MS, 'late');
    await harness.send(accountId, [early, late]);
    await harness.send(other, [record(hour + 1, 'early')]);
    expect(await harness.find(accountId, hour, hour + 2 * HOUR_MS)).toEqual([early.number, late.number]);
    expect(await harness.find(accountId, hour + 2, hour + HOUR_MS)).toEqual([]);
    expect(await harness.find(accountId, hour + HOUR_MS, hour + HOUR_MS + 1)).toEqual([late.number]);
    expect(await harness.find(accountId, hour, hour + 2 * HOUR_MS, ['late'])).toEqual([late.number]);
    expect(await harness.find(accountId, hour, hour + 2 * HOUR_MS, ['late', 'early'])).toEqual([]);
  });

  it('of a span that is over become one, the replaced ones can be read for a minute, and then they are gone', async () => {
    const accountId = await harness.makeAccount();
    const hour = Math.floor(((await harness.now()) - 3 * HOUR_MS) / HOUR_MS) * HOUR_MS;
    const records = Array.from({ length: 60 }, (_, i) => record(hour + i, `t${i % 7}`));
    for (let i = 0; i < 60; i += 6) await harness.send(accountId, records.slice(i, i + 6));
    const listed = await harness.store.list(accountId, { fromMs: hour, toMs: hour + HOUR_MS, withSummary: true });
    expect(listed.map(({ summary }) => String(summary))).toEqual(Array(10).fill('6'));
    await harness.sweep('merge');
    expect(await rowsOf(accountId)).toEqual([{ level: 1, records: 60, cold: false }]);
    expect(await harness.find(accountId, hour, hour + HOUR_MS)).toEqual(records.map(({ number }) => number));
    await harness.sweep('replaced');
    expect(await harness.store.read(accountId, listed, ['number'])).toHaveLength(10);
    await harness.advance(2 * 60_000);
    await harness.sweep('replaced');
    await expect(harness.store.read(accountId, listed, ['number'])).rejects.toThrow('is gone');
    expect(await harness.find(accountId, hour, hour + HOUR_MS)).toEqual(records.map(({ number }) => number));
  });

  it('of the running span are merged when there are many, or enough records for a full one', async () => {
    const accountId = await harness.makeAccount();
    const nowMs = Math.floor((await harness.now()) / HOUR_MS) * HOUR_MS;
    const sent = Array.from({ length: 250 }, (_, i) => record(nowMs + i));
    for (let i = 0; i < 250; i += 25) await harness.send(accountId, sent.slice(i, i + 25));
    await harness.sweep('merge');
    expect((await rowsOf(accountId)).map(({ records }) => records)).toEqual([100, 100, 25, 25]);
    // A full one is done by itself, once it has been seen.
    const full = Array.from({ length: 100 }, (_, i) => record(nowMs + i));
    await harness.send(accountId, full);
    await harness.advance(2 * 60_000);
    await harness.sweep('merge');
    const [levelsOf, all] = [await rowsOf(accountId), [...sent, ...full].map(({ number }) => number)];
    expect(levelsOf.every(({ level }) => level > 0)).toBe(true);
    expect(await harness.find(accountId, nowMs, nowMs + HOUR_MS)).toEqual(all);
  });

  it('that are cold lie in the asset store, are read and merged there, and go with their rows', async () => {
    const accountId = await harness.makeAccount();
    const hour = Math.floor(((await harness.now()) - 3 * DAY_MS) / HOUR_MS) * HOUR_MS;
    const records = Array.from({ length: 20 }, (_, i) => record(hour + i));
    await harness.send(accountId, records.slice(0, 10));
    await harness.send(accountId, records.slice(10, 19));
    await harness.sweep('merge');
    await harness.sweep('cold');
    expect(await rowsOf(accountId)).toEqual([{ level: 1, records: 19, cold: true }]);
    expect(await harness.find(accountId, hour, hour + HOUR_MS)).toEqual(
      records.slice(0, 19).map(({ number }) => number),
    );
    // A late record joins them.
    await harness.send(accountId, records.slice(19));
    await harness.sweep('merge');
    expect(await rowsOf(accountId)).toEqual([{ level: 2, records: 20, cold: false }]);
    expect(await harness.find(accountId, hour, hour + HOUR_MS)).toEqual(records.map(({ number }) => number));
    const listed = await harness.store.list(accountId, { fromMs: hour, toMs: hour + HOUR_MS });
    const [whole] = await harness.store.read(accountId, listed, ['number', 'nothing']);
    expect([...(whole as { columns: ReadonlyMap<string, unknown> }).columns.keys()]).toEqual(['number']);
  });

  it('past the time of their account are found no more, and deleted', async () => {
    const [usual, short, long] = [
      await harness.makeAccount(),
      await harness.makeAccount(),
      await harness.makeAccount(),
    ];
    // The sweep gives readers an hour of grace, so its day begins an hour late.
    const nowMs = (await harness.now()) - HOUR_MS;
    const ages = [0, 2, 6, 10, 20];
    for (const accountId of [usual, short, long]) {
      await harness.send(
        accountId,
        ages.map((days) => record(nowMs - days * DAY_MS)),
      );
    }
    await harness.db.transaction((tx) => harness.store.setKeepDays(tx, short, 1));
    await harness.db.transaction((tx) => harness.store.setKeepDays(tx, long, 15));
    await harness.sweep('retention');
    const left = async (accountId: string) => (await rowsOf(accountId)).length;
    expect([await left(usual), await left(short), await left(long)]).toEqual([3, 1, 4]);
    expect(await harness.store.keepDays(harness.db, long)).toBe(15);
    // A longer time brings nothing back; a shorter one is seen to again.
    await harness.db.transaction((tx) => harness.store.setKeepDays(tx, long, 3));
    await harness.sweep('retention');
    expect(await left(long)).toBe(2);
  });

  it('are followed as they were committed, also when they are merged at once', async () => {
    const accountId = await harness.makeAccount();
    const hour = Math.floor(((await harness.now()) - 3 * HOUR_MS) / HOUR_MS) * HOUR_MS;
    await harness.send(accountId, [record(hour)]);
    const [first] = await harness.store.tail(accountId, 0n);
    await harness.send(accountId, [record(hour + 1)]);
    await harness.sweep('merge');
    const behind = await harness.store.tail(accountId, first?.blockId as bigint);
    expect(behind.map(({ records }) => records)).toEqual([1]);
    expect(await harness.store.read(accountId, behind, ['number'])).toHaveLength(1);
  });

  it(`answer as a list of the records does, whatever the sweeps do meanwhile (seed ${seed})`, async () => {
    const random = randomOf(seed);
    const accountId = await harness.makeAccount();
    const firstHour = Math.floor(((await harness.now()) - 30 * HOUR_MS) / HOUR_MS) * HOUR_MS;
    const known: NumberRecord[] = [];
    for (let round = 0; round < 12; round += 1) {
      for (let call = 0; call < 8; call += 1) {
        const records = Array.from({ length: 1 + random(40) }, () =>
          record(firstHour + random(30 * HOUR_MS), `t${random(5)}`),
        );
        await harness.send(accountId, records);
        known.push(...records);
      }
      const sweeping = Promise.all([harness.sweep('merge'), harness.sweep('cold'), harness.sweep('replaced')]);
      for (let question = 0; question < 5; question += 1) {
        const fromMs = firstHour + random(30 * HOUR_MS);
        const toMs = fromMs + random(10 * HOUR_MS);
        const isIn = ({ timeMs }: NumberRecord) => timeMs >= fromMs && timeMs < toMs;
        const due = known.filter(isIn).map(({ number }) => number);
        expect(await harness.find(accountId, fromMs, toMs)).toEqual(due.sort((a, b) => a - b));
      }
      await sweeping;
    }
  });
});
