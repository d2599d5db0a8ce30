// What a FIFO consume reads to decide what it may deliver.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Services } from '../../src/kit/services.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { inProcess, type QueueCall } from './in-process.ts';

let service: TestService;
let call: QueueCall;
let payloadCharacters = 0;

/** The same object; payloads in rows that come from the database are counted. */
function counted<T extends object>(real: T): T {
  return new Proxy(real, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name === 'hot') return counted(value as object);
      if (typeof value !== 'function') return value;
      if (name === 'transaction' || name === 'pipelined')
        return (work: (tx: object) => unknown) => value.call(target, (tx: object) => work(counted(tx)));
      if (name !== 'query') return value.bind(target);
      return async (...args: unknown[]) => {
        const result = await value.apply(target, args);
        for (const row of result.rows) payloadCharacters += row.payload?.length ?? 0;
        return result;
      };
    },
  });
}

beforeAll(async () => {
  service = await startTestService({ env: { ROLES: 'web,render' } });
  const { secret } = await createTestAccount(service.core);
  const core: Services = { ...service.core, db: counted(service.core.db) };
  call = await inProcess(core, secret);
});
afterAll(() => service.stop());

test.each([100_000, 10_000])(
  'payloads of %d bytes are read once, and only those that are delivered',
  async (length) => {
    const queue = `heavy-${length}`;
    await call('create', { name: queue, type: 'fifo' });
    const text = 'x'.repeat(length);
    for (let n = 0; n < 5; n += 1) {
      const items = Array.from({ length: 10 }, (_, g) => ({ payload: { n, text }, message_group_id: `g${g}` }));
      await call('batch.publish', { queue, items });
    }
    const sizeOf = (items: { payload: unknown }[]) =>
      items.reduce((sum, { payload }) => sum + JSON.stringify(payload).length, 0);
    for (let round = 0; round < 3; round += 1) {
      payloadCharacters = 0;
      const { items } = await call('consume', { queue, max_messages: 10, visibility_timeout: 0 });
      expect(items).toHaveLength(10);
      expect(payloadCharacters).toBe(sizeOf(items));
    }
    const { items } = await call('consume', { queue, max_messages: 10 });
    payloadCharacters = 0;
    const receipts = items.map((item: { receipt_handle: string }) => item.receipt_handle);
    await call('nack', { queue, receipts: receipts.slice(0, 2) });
    await call('ack', { queue, receipts: receipts.slice(2) });
    expect(payloadCharacters).toBe(0);
  },
);
