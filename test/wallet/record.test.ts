// What a call costs and which scope it needs stand once, in the record of its capability: the lane takes both from there.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Variables } from '../../src/config/variables.ts';
import { chargeInLane } from '../../src/core/wallet/charge/charge.ts';
import { withClient } from '../../src/db/client.ts';
import type { Capability } from '../../src/kit/capability.ts';
import type { Module } from '../../src/kit/module.ts';
import { modules } from '../../src/modules/index.ts';
import { callCapability, prepareExample } from '../support/capabilities.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { type Account, contextOf, openAccount, openShop, rowEffect, type Shop } from './harness.ts';

interface Copy {
  readonly original: Capability;
  readonly copy: Capability;
}

/** Every capability that is paid by its call once more, under another price. No price of the book is a multiple of the one it gets instead. */
function copiesOf(module: Module): Copy[] {
  // What models do costs what their rows say.
  if (module.models !== undefined) return [];
  return module.capabilities
    .filter(({ price, chargedAtEnd }) => price !== 'free' && chargedAtEnd !== true)
    .map((original) => {
      const operation = original.id.replaceAll('.', '_');
      const price = module.name === 'errors' ? 'queue.publish' : 'errors.capture';
      const id = `${module.name}_again.${operation}`;
      const write = { scope: 'write', idempotent: true, isLongRead: false } as const;
      return { original, copy: { ...original, ...write, id, path: `/v1/${module.name}_again/${operation}`, price } };
    });
}

const copies = modules.flatMap(copiesOf);
const copied = modules
  .filter((module) => copiesOf(module).length > 0)
  .map(
    (module): Module => ({
      name: `${module.name}_again`,
      summary: 'Copies.',
      status: 'beta',
      capabilities: copiesOf(module).map(({ copy }) => copy),
      start: (core) => module.start?.(core, module.settings?.(new Variables({}))),
      stop: module.stop?.bind(module),
      close: module.close?.bind(module),
    }),
  );

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ extraModules: copied });
});
afterAll(() => service.stop());

test.each(copies)('$original.id costs what its record says', async ({ original, copy }) => {
  const call = client(service.url, (await createTestAccount(service.core)).secret);
  const input = await prepareExample(call, original);
  const { status, body } = await callCapability(call, copy, input);
  expect(status, JSON.stringify(body)).toBe(200);
  const perUnit = copy.price === 'queue.publish' ? 20_000 : 50_000;
  const nanos = Math.round(body.metadata.cost_usd * 1e9);
  expect([nanos > 0, nanos % perUnit]).toEqual([true, 0]);
});

describe('the lane', () => {
  const charge = { units: 1n, effect: rowEffect(), input: '1', sequences: 1, bytes: 1, rows: 1 };
  let database: TestDatabase;
  let shop: Shop;
  let account: Account;
  beforeAll(async () => {
    database = await createTestDatabase();
    shop = await openShop(database.connection);
    account = await openAccount(shop.db, 1_000_000n);
  });
  afterAll(async () => {
    await shop.end();
    await database.drop();
  });

  test('takes no charge for what its record calls free', async () => {
    const free = { ...contextOf(shop, account), priceEntry: null };
    await expect(chargeInLane(free, charge)).rejects.toThrow('queue.publish is free and cannot be charged');
  });

  test('asks a key for the scope of the record', async () => {
    await withClient(database.connection, (sql) =>
      sql.query(`UPDATE core.api_key SET scopes = '{queue:read}' WHERE account_id = $1`, [account.accountId]),
    );
    const ctx = contextOf(shop, account);
    await expect(chargeInLane({ ...ctx, scope: 'read' }, charge)).resolves.toMatchObject({ costNanos: 20_000n });
    await expect(chargeInLane(ctx, charge)).rejects.toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
  });
});
