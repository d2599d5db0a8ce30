// A cluster under load: shards are moved, nodes and processes die. Plain PostgreSQL has neither.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { withClient } from '../../src/db/client.ts';
import { Database } from '../../src/db/database.ts';
import type { Connection } from '../../src/db/embedded/index.ts';
import type { Services } from '../../src/kit/services.ts';
import { modules } from '../../src/modules/index.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  createPlace,
  isReady,
  type Place,
  type ServiceProcess,
  signalProcess,
  startProcess,
  until,
} from '../support/process.ts';
import { type Client, client, createTestAccount, SECRETS_KEY, type TestAccount } from '../support/service.ts';
import { SITE_NETWORK, type Site, startSite } from '../support/site.ts';
import { isSoak, rounds } from '../support/soak.ts';
import { type Books, consume, faultsOf, newBooks, noFaults, publish, type Target } from './load.ts';

const CREDIT_USD = 50;
const MOVES = rounds(20);
const PUBLISHERS = 3;
const QUEUE = 'load';
const PUSHED = 'pushed';
const BUCKET = 'of-the-test';
const AGAIN_MS = 100;

// The worker that has the account, and one that has not.
const findWay = `SELECT p.shardid, p.nodename, p.nodeport, n.node_name, n.node_port
  FROM pg_dist_shard_placement p, citus_get_active_worker_nodes() n
 WHERE p.shardid = get_shard_id_for_distribution_column('core.wallet', $1::text) AND (n.node_name, n.node_port) <> (p.nodename, p.nodeport)
 ORDER BY n.node_name, n.node_port LIMIT 1`;
const anySession = `SELECT pid FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND datname = current_database() AND pid <> pg_backend_pid() LIMIT 1`;

/** An account with what was done for it. */
interface Tenant {
  readonly account: TestAccount;
  readonly call: Client;
  readonly target: Target;
  readonly books: Books;
  readonly done: { objects: Set<string>; records: number; pushed: Set<string>; crawls: string[] };
}

describe.runIf(isSoak && inject('cluster') !== null)('a cluster under load', () => {
  let database: TestDatabase;
  let place: Place;
  let service: ServiceProcess;
  let db: Database;
  let site: Site;
  let tenants: Tenant[];
  const arrived = new Set<string>();
  const receiver = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      arrived.add((JSON.parse(Buffer.concat(parts).toString()) as { payload: { content: string } }).payload.content);
      response.end();
    });
  });

  beforeAll(async () => {
    database = await createTestDatabase();
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    site = await startSite({
      '/': '<title>One</title><p>A page that says enough to be read. <a href="/two">Two</a></p>',
      '/two': '<p>Two.</p>',
    });
    place = await createPlace({
      DATABASE_URL: database.url,
      SECRETS_KEY,
      ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      ALLOW_PRIVATE_SOURCES: SITE_NETWORK,
      WEB_HOST_INTERVAL_MS: '0',
    });
    service = await startProcess(place);
    db = new Database({ connection: database.connection, connections: 2, hotConnections: 1, distributed: true });
    tenants = [await openTenant(), await openTenant()];
    const [first] = tenants as [Tenant];
    // One on each worker.
    while ((await wayOf(tenants[1] as Tenant)).at(2) === (await wayOf(first)).at(2)) tenants[1] = await openTenant();
  });
  afterAll(async () => {
    await db?.end();
    await place?.remove();
    await site?.stop();
    receiver.close();
    await database?.drop();
  });

  async function openTenant(): Promise<Tenant> {
    const account = await createTestAccount({ db, secrets: new Secrets(SECRETS_KEY) } as Services, CREDIT_USD);
    const call = client(place.url, account.secret);
    const { port } = receiver.address() as AddressInfo;
    const done = { objects: new Set<string>(), records: 0, pushed: new Set<string>(), crawls: [] };
    for (const name of [QUEUE, PUSHED])
      expect(await call('POST', '/v1/queue/create', { name })).toMatchObject({ status: 200 });
    const url = `http://127.0.0.1:${port}`;
    expect(await call('POST', '/v1/queue/subscribe', { queue: PUSHED, url })).toMatchObject({ status: 200 });
    expect(await call('POST', '/v1/storage/bucket/create', { bucket: BUCKET })).toMatchObject({ status: 200 });
    return { account, call, target: { url: place.url, key: account.secret, queue: QUEUE }, books: newBooks(), done };
  }

  function onCoordinator<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    return withClient(database.connection, (of) => work(of as pg.Client));
  }

  async function wayOf({ account }: Tenant): Promise<(string | number)[]> {
    const { rows } = await onCoordinator((of) => of.query(findWay, [account.accountId]));
    return Object.values(rows[0]);
  }

  /** The node that has the account. */
  async function nodeOf(tenant: Tenant): Promise<Connection> {
    const [, host, port] = await wayOf(tenant);
    return { ...database.connection, host: String(host), port: Number(port) };
  }

  async function move(tenant: Tenant): Promise<void> {
    const way = await wayOf(tenant);
    await onCoordinator(async (of) => {
      await of.query('SET lock_timeout = 0');
      await expect
        .poll(async () => {
          await of.query('CALL citus_cleanup_orphaned_resources()');
          return (await of.query('SELECT FROM pg_dist_cleanup')).rowCount;
        })
        .toBe(0);
      await of.query(`SELECT citus_move_shard_placement($1, $2, $3, $4, $5, 'force_logical')`, way);
    });
  }

  /** PostgreSQL ends every session of a node whose process was killed, and recovers by itself. */
  async function crash(node: Connection): Promise<void> {
    const { rows } = await withClient(node, (of) => of.query<{ pid: number }>(anySession));
    signalProcess(rows[0]?.pid, 'SIGKILL');
    await until(() =>
      withClient(node, (of) => of.query('SELECT')).then(
        () => true,
        () => false,
      ),
    );
  }

  /** Runs `during` beside publishers and consumers of all tenants and beside `others`, and looks at all books afterwards. */
  async function underLoad(
    others: readonly ((tenant: Tenant, n: number) => Promise<void>)[],
    during: () => Promise<void>,
  ): Promise<void> {
    const [publishing, consuming] = [new AbortController(), new AbortController()];
    const { signal } = publishing;
    const writers = tenants.flatMap((tenant, i) => [
      ...Array.from({ length: PUBLISHERS }, (_, p) =>
        publish(tenant.target, tenant.books, `${i}-${p}-${Date.now()}`, signal),
      ),
      ...others.map((other) => repeat((n) => other(tenant, n), signal)),
    ]);
    const readers = tenants.map(({ target, books }) => consume(target, books, consuming.signal));
    const written = Promise.all(writers);
    // A load that fails ends the test at once.
    try {
      await Promise.race([during(), written]);
    } finally {
      publishing.abort();
      await written;
    }
    for (const { call, target } of tenants)
      await until(async () => {
        const { body } = await call('GET', `/v1/queue/stats/${target.queue}`);
        return body.data?.message_count === 0;
      });
    consuming.abort();
    await Promise.all(readers);
    for (const { books } of tenants) {
      expect(books.accepted.size).toBeGreaterThan(50);
      expect(faultsOf(books)).toEqual(noFaults);
    }
    expect((await examine({ db, secrets: new Secrets(SECRETS_KEY), modules })).findings).toEqual([]);
  }

  /** Until it is done: whatever is not answered, or is refused for now, is asked again under its key. */
  async function surely(
    call: Client,
    method: string,
    path: string,
    input: object | undefined,
  ): Promise<{ [field: string]: unknown }> {
    for (;;) {
      const reply = await call(method, path, input).catch(() => null);
      if (reply?.status === 200) return reply.body.data;
      if (reply !== null && reply.status < 500 && reply.status !== 409 && reply.status !== 429)
        throw new Error(`${path}: ${JSON.stringify(reply.body)}`);
      await sleep(AGAIN_MS);
    }
  }

  const putObject = async ({ call, done }: Tenant, n: number) => {
    const key = `object-${n}`;
    await surely(call, 'POST', '/v1/storage/object/put', { bucket: BUCKET, key, content: key.repeat(2_000) });
    done.objects.add(key);
    if (n % 3 !== 0) return;
    await surely(call, 'POST', '/v1/storage/object/delete', { bucket: BUCKET, keys: [key] });
    done.objects.delete(key);
  };
  const ingest = async ({ call, done }: Tenant, n: number) => {
    const items = Array.from({ length: 20 }, (_, i) => ({ message: `record ${n} ${i}` }));
    await surely(call, 'POST', '/v1/logs/ingest', { items, idempotency_key: `logs-${n}` });
    done.records += items.length;
  };
  const push = async ({ account, call, done }: Tenant, n: number) => {
    const content = `${account.accountId}-${n}`;
    await surely(call, 'POST', '/v1/queue/publish', {
      queue: PUSHED,
      payload: { content },
      idempotency_key: `pushed-${n}`,
    });
    done.pushed.add(content);
  };
  const crawl = async ({ call, done }: Tenant, n: number) => {
    const begun = await surely(call, 'POST', '/v1/web/crawl', {
      url: `${site.url}/`,
      limit: 2,
      idempotency_key: `crawl-${n}`,
    });
    done.crawls.push(String(begun.crawl_id));
    await sleep(1_000);
  };

  test(`${MOVES} moves beside publishes, deliveries, objects, blocks and crawls lose nothing`, {
    timeout: 1_200_000,
  }, async () => {
    await underLoad([putObject, ingest, push, crawl], async () => {
      for (let moved = 0; moved < MOVES; moved += 1) await move(tenants[moved % tenants.length] as Tenant);
    });
    for (const { call, done } of tenants) {
      await until(() => [...done.pushed].every((content) => arrived.has(content)));
      const { keys, records } = await stored(call);
      expect(keys).toEqual([...done.objects].sort());
      expect(records).toBe(done.records);
      for (const id of done.crawls) {
        const found = () => surely(call, 'GET', `/v1/web/crawl/get/${id}`, undefined);
        await until(async () => (await found()).status !== 'running');
        expect(await found()).toMatchObject({ status: 'completed', pages_read: 2 });
      }
    }
  });

  /** Keys of objects, and the number of log records. */
  async function stored(call: Client): Promise<{ keys: string[]; records: number }> {
    const keys: string[] = [];
    for (let cursor: unknown = null; cursor !== undefined; ) {
      const page = await surely(
        call,
        'GET',
        `/v1/storage/object/list?bucket=${BUCKET}&limit=1000${cursor === null ? '' : `&cursor=${cursor}`}`,
        undefined,
      );
      keys.push(...(page.items as { key: string }[]).map(({ key }) => key));
      cursor = page.next_cursor ?? undefined;
    }
    const { total, is_complete: isComplete } = await surely(call, 'GET', '/v1/logs/histogram', undefined);
    expect(isComplete).toBe(true);
    return { keys: keys.sort(), records: Number(total) };
  }

  test('workers, the coordinator and the process die: books are exact', { timeout: 600_000 }, async () => {
    const [first, second] = tenants as [Tenant, Tenant];
    const kills = {
      'a worker': async () => crash(await nodeOf(first)),
      'the other worker': async () => crash(await nodeOf(second)),
      'the coordinator': () => crash(database.connection),
      'the process': async () => {
        await service.end('SIGKILL');
        service = await startProcess(place);
      },
    };
    await underLoad([putObject, push], async () => {
      for (let round = 0; round < rounds(3); round += 1)
        for (const [what, kill] of Object.entries(kills)) {
          await kill();
          await until(() => isReady(place.url));
          const before = tenants.map(({ books }) => books.accepted.size);
          // Both go on after each.
          await until(() => tenants.every(({ books }, i) => books.accepted.size > (before[i] as number) + 5)).catch(
            (cause) => {
              throw new Error(`nothing is accepted after the end of ${what}`, { cause });
            },
          );
        }
    });
  });

  test('while a worker does not answer, accounts of the other go on', { timeout: 300_000 }, async () => {
    const [first, second] = tenants as [Tenant, Tenant];
    const node = await nodeOf(first);
    const { rows } = await withClient(node, (of) => of.query<{ pid: number }>(anySession.replace(' LIMIT 1', '')));
    await underLoad([], async () => {
      for (const { pid } of rows) signalProcess(pid, 'SIGSTOP');
      try {
        const before = second.books.accepted.size;
        await until(() => second.books.accepted.size > before + 100);
      } finally {
        for (const { pid } of rows) signalProcess(pid, 'SIGCONT');
      }
    });
  });
});

async function repeat(step: (n: number) => Promise<void>, ended: AbortSignal): Promise<void> {
  for (let n = 0; !ended.aborted; n += 1) {
    await step(n);
    await sleep(AGAIN_MS);
  }
}
