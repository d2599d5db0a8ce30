// What one receiver does never delays what goes to another.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createTestAccount, type TestService } from '../support/service.ts';
import { allowedMs } from '../support/slowness.ts';
import { emit, type Receiver, register, sql, startEngine, startReceiver, until } from './engine-harness.ts';

const BACKLOG = 100_000;
/** A delivery that waits for one which is never answered takes longer than this on any machine. */
const WAITED_MS = 10_000;
let service: TestService;
let healthy: Receiver;
let webhookId: string;
let accountId: string;
const receivers: Receiver[] = [];

beforeAll(async () => {
  service = await startEngine();
  healthy = await startReceiver();
  accountId = (await createTestAccount(service.core)).accountId;
  webhookId = await register(service.core, accountId, { url: healthy.url });
  await emit(service.core, accountId);
  await until(async () => (await lineHealth(webhookId)) === 1);
});
afterAll(async () => {
  await service.stop();
  await healthy.close();
});
afterEach(() => Promise.all(receivers.splice(0).map((receiver) => receiver.close())));

async function lineHealth(id: string): Promise<number | undefined> {
  const [line] = await sql<{ health: number }>(
    service.core.db,
    'SELECT health FROM core.delivery_line WHERE webhook_id = $1',
    [id],
  );
  return line?.health;
}

async function receive(answer: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
  const receiver = await startReceiver(answer);
  receivers.push(receiver);
  return receiver;
}

/** Milliseconds from the commit of an event of the healthy account to its arrival, `rounds` times. */
async function arrivals(rounds: number): Promise<number[]> {
  const taken: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = healthy.seen.length;
    await emit(service.core, accountId);
    const committedMs = performance.now();
    await until(() => healthy.seen.length > before);
    taken.push(performance.now() - committedMs);
  }
  return taken;
}

/** `count` deliveries of the account's last event to its webhooks, due now. */
async function fill(owner: string, count: number): Promise<void> {
  await sql(
    service.core.db,
    `INSERT INTO core.delivery (account_id, delivery_id, webhook_id, event_sequence, event_id, event_type, status, attempt, due_at, created_at)
     SELECT $1, 'whd_' || w.webhook_id || lpad(n::text, 8, '0'), w.webhook_id, e.sequence, e.event_id, e.type, 'pending', 0, core.clock_now(), core.clock_now()
       FROM core.webhook w, generate_series(1, $2::int) n,
            (SELECT * FROM core.event WHERE account_id = $1 ORDER BY sequence DESC LIMIT 1) e
      WHERE w.account_id = $1`,
    [owner, count],
  );
  await sql(service.core.db, `UPDATE core.delivery_line SET due_at = core.clock_now() WHERE account_id = $1`, [owner]);
}

async function ownerOf(urls: readonly string[]): Promise<string> {
  const { accountId: owner } = await createTestAccount(service.core);
  for (const url of urls) await register(service.core, owner, { url });
  await emit(service.core, owner);
  return owner;
}

test.each([
  ['fails at once', (_received: unknown, res: import('node:http').ServerResponse) => res.writeHead(500).end()],
  ['never answers', () => new Promise(() => undefined)],
])(
  '100,000 deliveries to a receiver that %s delay those of another account by no second',
  async (_name, answer) => {
    const failing = await receive(answer);
    const owner = await ownerOf([failing.url]);
    await until(() => failing.seen.length > 0);
    await fill(owner, BACKLOG);
    const before = failing.seen.length;
    const taken = await arrivals(20);
    expect(Math.max(...taken)).toBeLessThan(allowedMs(1_000));
    console.log(
      `slowest arrival ${Math.max(...taken).toFixed(0)} ms, meanwhile ${failing.seen.length - before} failures`,
    );
    const [pending] = await sql<{ count: bigint }>(
      service.core.db,
      `SELECT count(*) FROM core.delivery WHERE account_id = $1 AND status = 'pending'`,
      [owner],
    );
    expect(Number(pending?.count)).toBeGreaterThan(BACKLOG * 0.9);
    await sql(service.core.db, `DELETE FROM core.webhook WHERE account_id = $1`, [owner]);
    await sql(service.core.db, `DELETE FROM core.delivery WHERE account_id = $1`, [owner]);
  },
  60_000,
);

test('receivers that never answer, more of them than there are places, are not waited for by a healthy one', async () => {
  const hanging = await receive(() => new Promise(() => undefined));
  const urls = Array.from({ length: 130 }, (_, i) => `${hanging.url}/${i}`);
  for (let owner = 0; owner < 5; owner += 1) await ownerOf(urls);
  await until(() => hanging.seen.length >= 512);
  expect(Math.max(...(await arrivals(20)))).toBeLessThan(WAITED_MS);
  // The pool of receivers of which nothing is known is full, and no account has more than its share of it.
  const owners = new Map<string, number>();
  for (const { body } of hanging.seen) {
    const { account_id: owner } = JSON.parse(body) as { account_id: string };
    owners.set(owner, (owners.get(owner) ?? 0) + 1);
  }
  expect(hanging.seen).toHaveLength(512);
  expect(Math.max(...owners.values())).toBeLessThanOrEqual(128);
});
