// What is told of a dead-lettered message: the reason of its nack, in dlq/list and in the event queue.dlq, and its payload.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { client } from '../support/service.ts';
import { QueueBench } from './harness.ts';

let bench: QueueBench;
beforeAll(async () => {
  bench = await QueueBench.start();
});
afterAll(() => bench.stop());

const limitBytes = 16 * 1024;
const emptyBytes = JSON.stringify({ text: '' }).length;

async function nackOnce(queue: string, fields: Record<string, unknown> = {}): Promise<void> {
  const [item] = await bench.consume(queue, { max_messages: 1 });
  await bench.nack(queue, item.receipt_handle, fields);
}

/** `data` of the event of the queue, and its text. */
async function eventOf(queue: string) {
  const find = async () => {
    const { items } = await bench.ok('GET', '/v1/account/events/list?limit=100');
    return items.find((one: { data: { object: { queue: string } } }) => one.data.object.queue === queue);
  };
  await expect.poll(find).toBeDefined();
  return (await find()).data;
}

describe.each(['standard', 'fifo'])('%s', (type) => {
  test('the latest reason is kept with the message until it is redriven, and told in the list and the event', async () => {
    const queue = `reasons-${type}`;
    await bench.createWithDlq(queue, { type, max_retries: 3 });
    const message = await bench.publish(queue, { n: 1 });
    await nackOnce(queue, { reason: 'first' });
    await nackOnce(queue, { reason: 'second "half": \u{1f643}' });
    await nackOnce(queue);
    const told = {
      message_id: message.message_id,
      reason: 'second "half": \u{1f643}',
      payload: { n: 1 },
      delivery_count: 3,
    };
    expect(await bench.dead(queue)).toMatchObject([told]);
    expect(await eventOf(queue)).toEqual({
      object: {
        ...told,
        queue,
        dlq_name: `${queue}-dead`,
        account_id: bench.account.accountId,
        status: 'dlq',
        published_at: message.published_at,
        dead_lettered_at: expect.any(String),
        priority: 0,
        message_group_id: null,
        deduplication_id: null,
      },
    });
    await bench.redrive(queue);
    await nackOnce(queue, { requeue: false });
    expect(await bench.dead(queue)).toMatchObject([{ reason: null, delivery_count: 1 }]);
  });

  test('a reason is of those named, and of what ends later by time', async () => {
    const queue = `named-${type}`;
    await bench.createWithDlq(queue, { type, max_retries: 2, visibility_timeout_default: 30 });
    await bench.batch(queue, [{ payload: { n: 1 } }, { payload: { n: 2 } }]);
    const [first] = await bench.consume(queue);
    await bench.nack(queue, first.receipt_handle, { reason: 'mine' });
    for (let i = 0; i < 3; i += 1) {
      await bench.advance(31);
      await bench.consume(queue);
    }
    await bench.advance(31);
    expect((await bench.dead(queue)).map((one) => [one.payload.n, one.reason])).toEqual([
      [1, 'mine'],
      [2, null],
    ]);
  });
});

test('a reason of 500 characters is taken, a longer one and one that no database holds are refused', async () => {
  await bench.createWithDlq('long-reason', { max_retries: 1 });
  await bench.publish('long-reason');
  const [item] = await bench.consume('long-reason');
  for (const reason of ['x'.repeat(501), '', 'a\u0000b', '\ud800', 7]) {
    const refused = await bench.fails('POST', '/v1/queue/nack', {
      queue: 'long-reason',
      receipt_handle: item.receipt_handle,
      reason,
    });
    expect(refused).toMatchObject({ code: 'VALIDATION_FAILED', param: 'reason' });
  }
  const reason = '\u{1f643}'.repeat(500);
  await bench.nack('long-reason', item.receipt_handle, { reason });
  expect(await bench.dead('long-reason')).toMatchObject([{ reason }]);
});

describe('the payload in the event', () => {
  test('up to 16 KiB it is there, byte for byte, whatever brought the message to the dead-letter queue', async () => {
    const text = 'x'.repeat(limitBytes - emptyBytes);
    const odd = '{"z":1.10,"a":12345678901234567890,"a":"\\u00e9"}';
    for (const [queue, payload] of [
      ['whole', JSON.stringify({ text })],
      ['odd', odd],
    ] as const) {
      await bench.createWithDlq(queue, { max_retries: 1 });
      const sent = await fetch(`${bench.service.url}/v1/queue/publish`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'application/json' },
        body: `{"queue":"${queue}","payload":${payload}}`,
      });
      expect(sent.status).toBe(200);
      await bench.consume(queue, { visibility_timeout: 1 });
      await bench.advance(2);
      expect(await bench.counts(queue)).toEqual([0, 0, 0, 1]);
      expect(await eventOf(queue)).not.toHaveProperty('truncated');
      const { text: events } = await bench.call('GET', '/v1/account/events/list?limit=100');
      expect(events).toContain(`"payload":${payload}}`);
    }
  });

  test.each(['standard', 'fifo'])('beyond (%s) it is null, and truncated says so', async (type) => {
    const queue = `beyond-${type}`;
    await bench.createWithDlq(queue, { type });
    await bench.publish(queue, { text: 'x'.repeat(limitBytes - emptyBytes + 1) });
    await nackOnce(queue, { requeue: false, reason: 'too long' });
    expect(await eventOf(queue)).toMatchObject({ object: { payload: null, reason: 'too long' }, truncated: true });
  });

  test('the body of an event stays at 20 KiB, with the longest of reasons too', async () => {
    await bench.createWithDlq('crowded');
    await bench.publish('crowded', { text: 'x'.repeat(limitBytes - emptyBytes) });
    await nackOnce('crowded', { requeue: false, reason: '\u0001'.repeat(500) });
    const data = await eventOf('crowded');
    expect(data.object.reason).toHaveLength(500);
    expect(JSON.stringify(data).length).toBeLessThanOrEqual(20 * 1024 - 512);
  });
});

test('/metrics counts the events, from zero, and only what went to a dead-letter queue', async () => {
  const counted = async (type: string) => {
    const { text } = await client(bench.service.url)('GET', '/metrics');
    return Number(new RegExp(`^qm_events_total\\{type="${type}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  };
  expect(await counted('account.updated')).toBe(0);
  const before = await counted('queue.dlq');
  await bench.createWithDlq('counted', { max_retries: 2 });
  for (let i = 0; i < 3; i += 1) await bench.publish('counted', { i });
  await nackOnce('counted', { requeue: false });
  await nackOnce('counted', { requeue: false });
  await nackOnce('counted');
  await expect.poll(() => counted('queue.dlq')).toBe(before + 2);
});
