// What a receiver of a push subscription gets, and what its answers do to the messages.
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../support/process.ts';
import { PushBench, silent } from './push-bench.ts';
import { type Receiver, startReceiver, status } from './push-receiver.ts';

let bench: PushBench;
let receiver: Receiver;
beforeAll(async () => {
  bench = await PushBench.begin();
});
afterAll(() => bench.stop());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());

const arrived = (count: number) => until(() => receiver.requests.length >= count);

describe('a request', () => {
  test('is the message as consume returns it, byte for byte, without a receipt, and signed', async () => {
    await bench.create('exact');
    const { secret, secret_last4 } = await bench.subscribe('exact', receiver, {
      headers: { Authorization: 'Bearer of-the-receiver', 'X-Team': 'blue' },
      visibility_timeout: 60,
    });
    const payload = '{"b":1, "a":12345678901234567890.10,"t":"\\u00e9\\/ü","a":{}}';
    const body = `{"queue":"exact","payload":${payload},"headers":{"k":"v"},"priority":3}`;
    const published = await bench.ok('POST', '/v1/queue/publish', body);
    await arrived(1);
    const [{ headers, text, message }] = receiver.requests as [(typeof receiver.requests)[0]];
    expect(text).toContain(`"payload":${payload},"headers":{"k":"v"}`);
    expect(message).toEqual({
      ...published,
      payload: JSON.parse(payload),
      status: 'in_flight',
      delivery_count: 1,
      visibility_timeout_expires_at: expect.any(String),
    });
    const leaseMs = Date.parse(message.visibility_timeout_expires_at) - Date.parse(message.available_at);
    expect(leaseMs).toBeGreaterThanOrEqual(60_000);
    expect(leaseMs).toBeLessThan(65_000);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': published.message_id,
      authorization: 'Bearer of-the-receiver',
      'x-team': 'blue',
    });
    const signed = headers as Record<string, string>;
    expect(new Webhook(secret).verify(text, signed)).toMatchObject({ message_id: published.message_id });
    expect(() => new Webhook(secret).verify(text.replace('exact', 'other'), signed)).toThrow('signature');
    expect(secret.slice(-4)).toBe(secret_last4);
    await bench.drained('exact');
  });

  test('is signed with the secret that was sent, and shows a FIFO group as consume does', async () => {
    await bench.create('named', { type: 'fifo' });
    const secret = 'a secret of thirty-two characters';
    const made = await bench.subscribe('named', receiver, { secret });
    expect(made.secret).toBe(`whsec_${Buffer.from(secret).toString('base64')}`);
    await bench.publish('named', { n: 1 }, { message_group_id: 'g', deduplication_id: 'd' });
    await bench.publish('named', { n: 2 });
    await arrived(2);
    for (const { text, headers } of receiver.requests)
      new Webhook(made.secret).verify(text, headers as Record<string, string>);
    const groups = receiver.requests.map(({ message }) => [message.message_group_id, message.deduplication_id]);
    expect(groups.sort()).toEqual([
      [null, null],
      ['g', 'd'],
    ]);
    await bench.drained('named');
  });

  test('comes at once for a message published while nothing is under way', async () => {
    await bench.create('prompt');
    await bench.subscribe('prompt', receiver);
    await sleep(2_500);
    const latencies: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const publishedAt = performance.now();
      await bench.publish('prompt', { n });
      await arrived(n + 1);
      latencies.push((receiver.requests[n] as { atMs: number }).atMs - publishedAt);
      await sleep(n === 2 ? 2_500 : 50);
    }
    // The median: this machine may be busy with other things.
    expect(latencies.toSorted((a, b) => a - b)[2]).toBeLessThan(500);
  });

  test('also carries messages that were there before', async () => {
    await bench.create('backlog', { enable_priority: true });
    await bench.publishNumbers('backlog', 250, (n) => ({ priority: n % 11 }));
    await bench.subscribe('backlog', receiver);
    await bench.drained('backlog');
    expect(new Set(receiver.numbers()).size).toBe(250);
    expect(receiver.requests).toHaveLength(250);
    expect(receiver.requests.slice(0, 10).every(({ message }) => message.priority === 10)).toBe(true);
  });
});

describe('an answer', () => {
  test.each([200, 201, 204, 299])('%i acknowledges', async (code) => {
    await bench.create(`taken-${code}`);
    receiver.answer(status(code));
    await bench.subscribe(`taken-${code}`, receiver);
    await bench.publish(`taken-${code}`);
    await bench.drained(`taken-${code}`);
    expect(receiver.requests).toHaveLength(1);
  });

  test.each([302, 400, 404, 410, 500, 503])('%i gives the message back, and is not followed', async (code) => {
    const queue = `refused-${code}`;
    await bench.create(queue);
    receiver.answer(status(code, { location: `${receiver.url}/elsewhere` }));
    await bench.subscribe(queue, receiver);
    await bench.publish(queue);
    await arrived(1);
    await until(async () => (await bench.counts(queue))[2] === 1);
    expect(await bench.counts(queue)).toEqual([0, 0, 1, 0]);
    expect(await bench.subscriptions(queue)).toMatchObject([{ status: 'active' }]);
    await bench.ok('DELETE', `/v1/queue/delete/${queue}`);
  });

  test('5 s, doubled each time, lie between deliveries, which keep their webhook-id', async () => {
    const own = await PushBench.begin();
    try {
      await own.create('growing');
      receiver.answer(status(500));
      await own.subscribe('growing', receiver);
      await own.publish('growing', { n: 1 });
      for (const [i, seconds] of [5, 10, 20, 40].entries()) {
        await arrived(i + 1);
        await until(async () => (await own.counts('growing'))[2] === 1);
        const dueIn = await own.dueInSeconds();
        expect(dueIn).toBeLessThanOrEqual(seconds);
        expect(dueIn).toBeGreaterThan(seconds - 2);
        await own.advance(seconds);
      }
      await arrived(5);
      expect(receiver.requests.map(({ message }) => message.delivery_count)).toEqual([1, 2, 3, 4, 5]);
      expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    } finally {
      await own.stop();
    }
  });

  test('Retry-After replaces the delay, within a second and a quarter of an hour', async () => {
    const own = await PushBench.begin();
    try {
      await own.create('asked');
      await own.subscribe('asked', receiver);
      const asked: [value: string, seconds: number][] = [
        ['60', 60],
        ['0', 1],
        ['86400', 900],
        [new Date(Date.now() + 120_000).toUTCString(), 120],
        ['soon', 80],
      ];
      receiver.answer((pushed, response) => {
        const [value = ''] = asked[pushed.message.delivery_count - 1] ?? [];
        if (pushed.message.delivery_count <= asked.length) response.writeHead(503, { 'retry-after': value });
        response.end();
      });
      // A message of a queue without a dead-letter queue: delivery counts go on for ever.
      await own.publish('asked', { n: 1 });
      for (const [i, [value, seconds]] of asked.entries()) {
        await arrived(i + 1);
        await until(async () => (await own.counts('asked'))[1] === 0);
        const dueIn = await own.dueInSeconds();
        // Dates have no fractions of a second.
        expect(dueIn, value).toBeLessThanOrEqual(seconds + 1);
        expect(dueIn, value).toBeGreaterThan(seconds - 2);
        await own.advance(seconds);
      }
      await own.drained('asked');
      expect(receiver.requests).toHaveLength(asked.length + 1);
    } finally {
      await own.stop();
    }
  });

  test('that never comes counts as none after 15 s, and a connection that breaks at once', async () => {
    await bench.create('broken');
    receiver.answer((_, response) => void response.destroy());
    await bench.subscribe('broken', receiver);
    await bench.publish('broken');
    await until(async () => (await bench.counts('broken'))[2] === 1);
    await bench.create('mute');
    const mute = await startReceiver();
    mute.answer(() => undefined);
    await bench.subscribe('mute', mute);
    await bench.publish('mute');
    await until(async () => (await bench.counts('mute'))[2] === 1);
    expect(mute.requests).toHaveLength(1);
    await mute.stop();
    for (const queue of ['broken', 'mute']) await bench.ok('DELETE', `/v1/queue/delete/${queue}`);
  });
});

describe('the rules of the queue', () => {
  test('max_receive_count deliveries, then the dead-letter queue and one event', async () => {
    const own = await PushBench.begin();
    try {
      await own.createWithDlq('doomed', { max_retries: 3 });
      receiver.answer(status(500));
      await own.subscribe('doomed', receiver);
      await own.costing(1, { 'queue.dlq': 1 }, async () => {
        const { message_id } = await own.publish('doomed', { n: 1 });
        for (let n = 1; n <= 3; n += 1) {
          await arrived(n);
          await until(async () => (await own.stats('doomed')).in_flight_count === 0);
          await own.advance(60);
        }
        await until(async () => (await own.dead('doomed')).length === 1);
        expect(await own.dead('doomed')).toMatchObject([{ message_id, delivery_count: 3 }]);
        expect(await silent(receiver, 1_500)).toBe(true);
      });
      expect(receiver.requests).toHaveLength(3);
      await own.costing(0, {}, async () => {
        receiver.answer(status(200));
        expect(await own.redrive('doomed')).toMatchObject({ moved: 1 });
        await arrived(4);
        await own.drained('doomed');
      });
      expect(receiver.requests[3]?.message.delivery_count).toBe(1);
    } finally {
      await own.stop();
    }
  });

  test('the messages of a FIFO group come one at a time in order, also when some fail; groups do not wait for each other', async () => {
    await bench.create('ordered', { type: 'fifo' });
    const open = new Map<string, number>();
    let overlapping = 0;
    let failures = 0;
    receiver.answer(async ({ message }, response) => {
      const group = message.message_group_id;
      open.set(group, (open.get(group) ?? 0) + 1);
      if ((open.get(group) ?? 0) > 1) overlapping += 1;
      await sleep(10);
      open.set(group, (open.get(group) ?? 0) - 1);
      const fails = message.payload.n % 7 === 3 && message.delivery_count === 1;
      if (fails) failures += 1;
      response.writeHead(fails ? 503 : 200, { 'retry-after': '1' }).end();
    });
    await bench.publishNumbers('ordered', 100, (n) => ({ message_group_id: `g${n % 5}` }));
    await bench.subscribe('ordered', receiver);
    await bench.drained('ordered', 25_000);
    expect(overlapping).toBe(0);
    expect(failures).toBe(14);
    expect(receiver.openMost()).toBeGreaterThan(2);
    for (let g = 0; g < 5; g += 1) {
      const of = receiver.requests.filter(({ message }) => message.message_group_id === `g${g}`);
      const done = of.filter(({ message }) => !(message.payload.n % 7 === 3 && message.delivery_count === 1));
      expect(done.map(({ message }) => message.payload.n)).toEqual(Array.from({ length: 20 }, (_, i) => g + 5 * i));
      // A later message was never counted as delivered because an earlier one failed.
      expect(Math.max(...of.map(({ message }) => message.delivery_count))).toBe(2);
    }
  });

  test('subscriptions and consumers of a queue share its messages', async () => {
    await bench.create('split');
    const second = await startReceiver();
    await bench.subscribe('split', receiver);
    await bench.subscribe('split', second);
    for (const one of [receiver, second])
      one.answer(async (_, response) => {
        await sleep(20);
        response.end();
      });
    await bench.publishNumbers('split', 100);
    await bench.drained('split');
    const all = [...receiver.numbers(), ...second.numbers()];
    expect([all.length, new Set(all).size]).toEqual([100, 100]);
    expect(Math.min(receiver.requests.length, second.requests.length)).toBeGreaterThan(10);
    await second.stop();
  });

  test('delayed messages come when they are due', async () => {
    await bench.create('delayed');
    await bench.subscribe('delayed', receiver);
    await bench.publish('delayed', { n: 1 }, { delay_seconds: 2 });
    expect(await silent(receiver, 1_500)).toBe(true);
    await arrived(1);
  });
});
