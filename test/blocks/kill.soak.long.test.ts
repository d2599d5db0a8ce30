import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { statement } from '../../src/db/statement.ts';
import { DAY_MS, HOUR_MS } from '../../src/lib/time.ts';
import { randomOf, rounds, seed } from '../support/soak.ts';
import { blocksHarness } from './harness.ts';
import type { NumberRecord } from './numbers.ts';

const states = statement(
  'test_block_states',
  `SELECT count(*) FILTER (WHERE b.level > 0)::integer AS merged, count(*) FILTER (WHERE b.asset_key IS NOT NULL)::integer AS cold,
          count(*) FILTER (WHERE b.replaced_ms IS NOT NULL)::integer AS replaced FROM core.block b WHERE b.account_id = $1`,
);
const named = statement(
  'test_block_named',
  'SELECT b.asset_key FROM core.block b WHERE b.account_id = $1 AND b.asset_key IS NOT NULL',
);

test(`two processes that merge and move blocks and are killed lose no record and show none twice (seed ${seed})`, async () => {
  const harness = await blocksHarness();
  const random = randomOf(seed);
  const accountId = await harness.makeAccount();
  const first = Math.floor(((await harness.now()) - 5 * DAY_MS) / HOUR_MS) * HOUR_MS;
  const spread = 5 * DAY_MS;
  const known: NumberRecord[] = [];
  const start = () => {
    const child = spawn(process.execPath, [
      join(import.meta.dirname, 'sweeping-process.ts'),
      harness.database.url,
      harness.folder,
    ]);
    return { child, begun: once(child.stdout, 'data') };
  };
  const check = async () => {
    const fromMs = first + random(spread);
    const toMs = fromMs + random(2 * DAY_MS);
    // Committed before the question; what comes meanwhile may be there or not.
    const due = known.filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs).map(({ number }) => number);
    expect(await harness.find(accountId, fromMs, toMs)).toEqual(due.sort((a, b) => a - b));
  };
  for (let round = 0; round < rounds(20); round += 1) {
    const running = [start(), start()];
    await Promise.all(running.map(({ begun }) => begun));
    for (let call = 0; call < 12; call += 1) {
      const records = Array.from({ length: 1 + random(60) }, (_, i) => ({
        timeMs: first + random(spread),
        number: known.length + i,
        text: `t${random(9)}`,
      }));
      await harness.send(accountId, records);
      known.push(...records);
      await check();
      await sleep(random(20));
    }
    for (const { child } of running) child.kill('SIGKILL');
    await Promise.all(running.map(({ child }) => once(child, 'exit')));
    await check();
  }
  for (const name of ['merge', 'cold', 'retention'] as const) await harness.sweep(name);
  const [state] = (await harness.db.query<{ merged: number; cold: number }>(states, [accountId])).rows;
  expect(state?.merged).toBeGreaterThan(0);
  expect(state?.cold).toBeGreaterThan(0);
  await harness.advance(3 * 60_000);
  await harness.sweep('replaced');
  expect(await harness.find(accountId, first, first + spread)).toEqual(known.map(({ number }) => number));
  // What kills left in the asset store is named by no row, and every named one is there: the question above has read them.
  const keys = (await harness.db.query<{ asset_key: string }>(named, [accountId])).rows.map(
    ({ asset_key }) => asset_key,
  );
  const files = (await readdir(join(harness.folder, 'blocks', accountId))).map((file) => `blocks/${accountId}/${file}`);
  expect(keys.filter((key) => !files.includes(key))).toEqual([]);
  await harness.close();
}, 600_000);
