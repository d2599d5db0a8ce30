// Processes that call models, killed at each step: a call is charged once or not at all, a batch loses nothing, and no hold stays.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BatchCaller, many, nanosOf } from '../ai/batches-harness.ts';
import { AiVendors } from '../ai/vendors-bench.ts';
import { eventually } from '../cron/harness.ts';
import { chunk, type Deed, frame, opening, streamOf } from '../support/ai/openai-double.ts';
import { openaiWire } from '../support/ai/wires.ts';
import { lockWaiters } from '../support/lock-waits.ts';
import { createPlace, launch, type Place, type ServiceProcess, startProcess } from '../support/process.ts';
import { client, createTestAccount, SECRETS_KEY } from '../support/service.ts';
import { randomOf, rounds, seed } from '../support/soak.ts';

/** Of a call, and of one in a batch, nano-USD. */
const CALL_NANOS = 21_000n;
const ITEM_NANOS = CALL_NANOS / 2n;
const CREDIT = 1_000_000_000n;

let bench: AiVendors;
let place: Place;
beforeAll(async () => {
  // It takes calls; what works in the background are processes that die.
  bench = await AiVendors.start({ batch_discount: 0.5 }, openaiWire, { ROLES: 'web,render' });
  place = await placeOf('all');
});
afterAll(async () => {
  await place?.remove();
  await bench?.stop();
});
afterEach(() => bench.forgive());

const placeOf = (ROLES: string) => {
  const { database } = bench.service;
  const env = { DATABASE_URL: database.url, SECRETS_KEY, TEST_CLOCK: 'on', LOG_LEVEL: 'silent', ROLES };
  return createPlace({ ...bench.env, ...env });
};

function sql<R>(text: string, values: readonly string[] = []) {
  return bench.service.core.db.query<R>({ name: '', text }, values);
}

const caller = async () => new BatchCaller(bench.service, await createTestAccount(bench.service.core, 1));

async function heldOf({ account }: BatchCaller): Promise<bigint> {
  const text = 'SELECT w.held_nanos AS held FROM core.wallet w WHERE w.account_id = $1';
  return (await sql<{ held: bigint }>(text, [account.accountId])).rows[0]?.held ?? 0n;
}

const holds = async ({ account }: BatchCaller, status: 'captured' | 'expired') => {
  const text = 'SELECT count(*)::int AS n FROM core.hold h WHERE h.account_id = $1 AND h.status = $2';
  return (await sql<{ n: number }>(text, [account.accountId, status])).rows[0]?.n ?? 0;
};

/** Locks the wallet until what is answered is called. */
async function lockWallet({ account }: BatchCaller): Promise<() => Promise<void>> {
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const transaction = bench.service.core.db.transaction(async (tx) => {
    const text = 'SELECT 1 FROM core.wallet w WHERE w.account_id = $1 FOR UPDATE';
    await tx.query({ name: '', text }, [account.accountId]);
    locked.resolve();
    await released.promise;
  });
  await Promise.race([locked.promise, transaction]);
  return async () => {
    released.resolve();
    await transaction;
  };
}

const seen = (count: number) => eventually(() => bench.acme.seen.length >= count);
const waitsForLock = () => eventually(async () => (await lockWaiters(bench.service.core.db)) > 0);

/** A slow answer: there is time to do something before it is whole. */
const slowly = (everyMs = 60): Deed => ({ stream: streamOf('One two three four five.'), everyMs });

interface Step {
  readonly name: string;
  readonly deed: Deed;
  /** Resolves when the process is to die; answers what is undone after its death. */
  reached(it: BatchCaller): Promise<() => Promise<void>>;
  readonly isCharged: boolean;
  /** Before the call. */
  before?(it: BatchCaller): Promise<() => Promise<void>>;
}

const nothing = async () => undefined;

const steps: readonly Step[] = [
  {
    name: 'before its capture commits',
    deed: slowly(),
    isCharged: false,
    async reached(it) {
      await eventually(async () => (await heldOf(it)) > 0n);
      await seen(1);
      const unlock = await lockWallet(it);
      await waitsForLock();
      return unlock;
    },
  },
  {
    name: 'after its capture has committed',
    deed: slowly(1),
    isCharged: true,
    async reached(it) {
      await eventually(async () => (await holds(it, 'captured')) === 1);
      return nothing;
    },
  },
  {
    name: 'before its hold',
    deed: slowly(1),
    isCharged: false,
    before: lockWallet,
    async reached() {
      // Nothing shows a call that waits for its turn; whenever it dies, nobody was asked.
      await sleep(300);
      expect(bench.acme.seen).toEqual([]);
      return nothing;
    },
  },
  {
    name: 'after its hold, before the vendor has taken it',
    deed: 'silence',
    isCharged: false,
    async reached(it) {
      await seen(1);
      expect(await heldOf(it)).toBeGreaterThan(0n);
      return nothing;
    },
  },
  {
    name: 'when the vendor has taken it and said nothing',
    deed: { stream: [opening], ends: 'silence' },
    isCharged: false,
    async reached() {
      await seen(1);
      await sleep(50);
      return nothing;
    },
  },
  {
    name: 'in mid-stream',
    deed: { stream: [opening, frame(chunk({ content: 'Half ' }))], ends: 'silence' },
    isCharged: false,
    async reached() {
      await seen(1);
      await sleep(50);
      return nothing;
    },
  },
];

/** The holds of dead processes end. */
async function aMinuteLater(): Promise<void> {
  await bench.service.advance(61);
  const { holds } = bench.service.core;
  while (await holds.expireOverdue(new AbortController().signal));
}

describe('a process dies in a call', () => {
  test.each(steps.slice(0, rounds(steps.length)))(
    '$name: a repeat at another one is charged once in all',
    async (step) => {
      const it = await caller();
      const body = { messages: [{ role: 'user', content: 'Hello.' }], stream: true, idempotency_key: 'k' };
      const dying = await startProcess(place);
      const unlock = (await step.before?.(it)) ?? nothing;
      bench.acme.next(step.deed);
      const asked = client(dying.url, it.account.secret)('POST', '/v1/chat/completions', body).catch(() => null);
      const undo = await step.reached(it);
      await dying.end('SIGKILL');
      await Promise.all([asked, undo(), unlock()]);
      await aMinuteLater();
      expect(await it.spent(CREDIT)).toBe(step.isCharged ? CALL_NANOS : 0n);
      bench.acme.reset();
      const again = await it.call('POST', '/v1/chat/completions', { ...body, stream: false });
      expect([again.status, again.body.service_metadata.idempotent_replay]).toEqual([200, step.isCharged]);
      expect(await it.spent(CREDIT)).toBe(CALL_NANOS);
    },
  );
});

describe('of two processes that work on a batch one dies', () => {
  const hello = { capability: 'ai.chat', body: { messages: [{ role: 'user', content: 'Hello.' }] } };

  /** Leases of the dead end; those of the living are renewed, by a clock that does not jump, so it jumps seldom. */
  async function over(it: BatchCaller, id: string) {
    return eventually(async () => {
      await bench.service.advance(61);
      return it.over(id, 3_000).catch(() => null);
    });
  }

  const noneHeld = (it: BatchCaller) =>
    eventually(async () => {
      await aMinuteLater();
      return (await heldOf(it)) === 0n;
    });

  async function expectWhole(it: BatchCaller, id: string, count: number): Promise<void> {
    expect(await over(it, id)).toMatchObject({
      status: 'completed',
      counts: { total: count, succeeded: count, failed: 0 },
    });
    const results = await it.results(id);
    expect(new Set(results.map(({ custom_id }) => custom_id)).size).toBe(count);
    await noneHeld(it);
    expect(await it.spent(CREDIT)).toBe(BigInt(count) * ITEM_NANOS);
    expect(nanosOf(results)).toBe(BigInt(count) * ITEM_NANOS);
  }

  test('while vendors work, and while a capture waits: each request is charged once, and none is lost', async () => {
    const it = await caller();
    let worker = launch(place);
    bench.acme.next('silence', slowly());
    const { batch_id: id } = await it.create(many(2, hello));
    await seen(2);
    const unlock = await lockWallet(it);
    await waitsForLock();
    await worker.end('SIGKILL');
    await unlock();
    worker = launch(place);
    await bench.service.advance(61);
    await expectWhole(it, id, 2);
    await worker.end('SIGTERM');
  });

  test('a request whose process died twice is given up, uncharged; it is tried a second time alone, and takes no other with it', async () => {
    const it = await caller();
    const other = await caller();
    const ask = (content: string) => ({ ...hello, body: { messages: [{ role: 'user', content }] } });
    const asked = () => bench.acme.seen.map(({ body }) => body.messages[0].content);
    let worker = launch(place);
    bench.acme.rule = () => 'silence';
    const requests = [ask('Deadly.'), ask('One.'), ask('Two.')].map((one, n) => ({ custom_id: `n-${n}`, ...one }));
    const { batch_id: id } = await it.create(requests);
    await seen(3);
    await worker.end('SIGKILL');
    bench.acme.reset();
    bench.acme.rule = ({ body }) => (body.messages[0].content === 'Deadly.' ? 'silence' : slowly(1));
    await bench.service.advance(61);
    worker = launch(place);
    await seen(1);
    const { batch_id: otherId } = await other.create(many(1, hello));
    await sleep(700);
    expect(asked()).toEqual(['Deadly.']);
    await worker.end('SIGKILL');
    bench.acme.reset();
    bench.acme.rule = () => slowly(1);
    await bench.service.advance(61);
    worker = launch(place);
    expect(await over(it, id)).toMatchObject({ status: 'completed', counts: { total: 3, succeeded: 2, failed: 1 } });
    expect(await over(other, otherId)).toMatchObject({ counts: { succeeded: 1 } });
    expect(asked().sort()).toEqual(['Hello.', 'One.', 'Two.']);
    const failed = (await it.results(id)).find(({ status }) => status === 'failed');
    const message = 'The process died 2 times while this request ran. It is not tried again.';
    expect(failed).toMatchObject({ custom_id: 'n-0', error: { code: 'INTERNAL_ERROR', message }, cost_usd: 0 });
    await worker.end('SIGTERM');
    await noneHeld(it);
    expect(await it.spent(CREDIT)).toBe(2n * ITEM_NANOS);
  });

  test(`at any time, again and again: each request is charged once, or given up and not charged, with SEED=${seed}`, async () => {
    const it = await caller();
    const second = await placeOf('worker');
    const workers: [ServiceProcess, ServiceProcess] = [launch(place), launch(second)];
    const count = 40;
    bench.acme.next(...Array.from({ length: count * 2 }, () => slowly(20)));
    const { batch_id: id } = await it.create(many(count, hello));
    await seen(4);
    const random = randomOf(seed);
    for (let round = 0; round < rounds(10); round += 1) {
      await sleep(random(600));
      const which = random(2) as 0 | 1;
      await workers[which].end('SIGKILL');
      workers[which] = launch(which === 0 ? place : second);
      // Each time the living lose their leases too, as if they had died.
      if (round % 3 === 0) await bench.service.advance(61);
    }
    const { counts } = await over(it, id);
    const results = await it.results(id);
    expect(new Set(results.map(({ custom_id }) => custom_id)).size).toBe(count);
    const failed = results.filter(({ status }) => status === 'failed');
    expect(failed.map(({ error }) => error.code)).toEqual(failed.map(() => 'INTERNAL_ERROR'));
    expect(counts).toEqual({ total: count, succeeded: count - failed.length, failed: failed.length });
    await noneHeld(it);
    // Whoever lives and lost its leases may find that its hold has expired: then its request costs nothing.
    const free = results.filter(({ status, cost_usd }) => status === 'succeeded' && cost_usd === 0).length;
    expect(free).toBeLessThanOrEqual(await holds(it, 'expired'));
    expect(await it.spent(CREDIT)).toBe(BigInt(counts.succeeded - free) * ITEM_NANOS);
    expect(nanosOf(results)).toBe(BigInt(counts.succeeded - free) * ITEM_NANOS);
    await Promise.all(workers.map((worker) => worker.end('SIGTERM')));
    await second.remove();
  });
});
