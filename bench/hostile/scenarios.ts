// What is done to the service while the victim goes on. Each is one that has once taken it down or slowed everybody.
import { brotliCompressSync } from 'node:zlib';
import { BODY, QUEUE } from '../support/flows.ts';
import { get, post } from '../support/load.ts';
import type { BenchAccount, BenchService } from '../support/service.ts';
import { aiScenarios } from './ai.ts';
import { doorScenarios } from './doors.ts';
import { addresses } from './line.ts';
import { questionScenarios } from './questions.ts';
import type { Scenario } from './scenario.ts';
import { telemetryScenarios } from './telemetry.ts';
import { videoScenarios } from './video.ts';
import { wireScenarios } from './wires.ts';

const MIB = 1024 * 1024;
const COLLECTION = 'wide';
const VECTORS = 1_000;
const DIMENSION = 256;
const UNKNOWN_NAMES = 70_000;
const IDLE_CONNECTIONS = 20_000;
const ids = Array.from({ length: VECTORS }, (_, n) => `v${n}`);

/** What the attackers own: an empty queue, a collection of long vectors, a key for error events. */
export async function prepare(service: BenchService, attacker: BenchAccount): Promise<{ dsnSecret: string }> {
  await service.call(attacker.secret, '/v1/queue/create', { name: 'empty' });
  const collection = { collection: COLLECTION, dimension: DIMENSION, metric: 'cosine' };
  await service.call(attacker.secret, '/v1/vector/collection/create', collection);
  const vectors = ids.map((id, n) => ({
    id,
    embedding: Array.from({ length: DIMENSION }, (_, i) => Math.sin(n * DIMENSION + i + 1)),
  }));
  await service.call(attacker.secret, '/v1/vector/upsert', { collection: COLLECTION, vectors });
  const made = (await service.call(attacker.secret, '/v1/account/keys/create', {
    name: 'dsn',
    scopes: ['errors.capture'],
  })) as { data: { key_secret: string } };
  return { dsnSecret: made.data.key_secret };
}

export async function scenarios(
  service: BenchService,
  { dsnSecret, smtpPort }: { readonly dsnSecret: string; readonly smtpPort: number },
): Promise<Scenario[]> {
  const { url, accounts } = service;
  const [, attacker, ...others] = accounts as [BenchAccount, BenchAccount, ...BenchAccount[]];
  return [
    ...pipelined(url, attacker),
    ...bodies(url, attacker, others.slice(0, 4), dsnSecret),
    ...refused(url, attacker),
    ...(await doorScenarios(service, attacker, addresses(1))),
    idleConnections,
    lockedWallets(url, others.slice(4, 6)),
    ...videoScenarios(service, accounts.slice(-3)),
    ...aiScenarios(url, addresses(1), attacker),
    ...(await telemetryScenarios(service, others[7] as BenchAccount, addresses(1))),
    ...(await questionScenarios(service, others[8] as BenchAccount, addresses(1))),
    ...(await wireScenarios(service, others[9] as BenchAccount, { addresses: addresses(1), smtpPort })),
  ];
}

function pipelined(url: string, { secret }: BenchAccount): Scenario[] {
  const open = (path: string) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`);
  const times = (count: number, request: Buffer) => Buffer.concat(new Array<Buffer>(count).fill(request));
  const tiers = (count: number) => times(count, open('/v1/account/tier'));
  const poll = post(url, '/v1/queue/consume', secret, '{"queue":"empty","wait_seconds":20}');
  return [
    {
      name: 'pipelining',
      what: '20 connections without a key at once and 20 one after the other, each 24 x openapi.json and 1,150 x account/tier, never reading',
      // The later ones take what places others give back.
      orders: [0, 300].map((apartMs) => ({
        connections: 20,
        apartMs,
        addresses: addresses(1),
        manner: 'unread' as const,
        requests: [Buffer.concat([times(24, open('/v1/openapi.json')), tiers(1_150)])],
      })),
    },
    {
      name: 'behind-a-poll',
      what: '40 connections, each a long poll and 1,200 x account/tier without a key behind it',
      orders: [
        {
          connections: 40,
          addresses: addresses(1),
          manner: 'unread',
          requests: [Buffer.concat([poll, tiers(1_200)])],
        },
      ],
    },
  ];
}

function bodies(
  url: string,
  { secret }: BenchAccount,
  announcing: readonly BenchAccount[],
  dsnSecret: string,
): Scenario[] {
  const names = ['/v1/queue/ack', '/v1/queue/consume', '/v1/account/keys/create'].map((path) =>
    post(url, path, secret, unknownNames()),
  );
  const fetched = JSON.stringify({ collection: COLLECTION, ids, include_values: true });
  return [
    {
      name: 'idle-bodies',
      what: '8 connections of 4 accounts announce bodies of 32 MiB and send nothing',
      orders: [
        {
          connections: 8,
          addresses: addresses(1),
          manner: 'holds',
          requests: announcing.map((account) => announced(url, account.secret, 32 * MIB)),
        },
      ],
    },
    ...[4, 32].map((connections) => ({
      name: `names-${connections}`,
      what: `${connections} connections send bodies of 1 MiB with ${UNKNOWN_NAMES.toLocaleString('en')} unknown names to queue.ack, consume and keys.create`,
      orders: [{ connections, addresses: addresses(1), manner: 'calls' as const, requests: names }],
    })),
    {
      name: 'unread',
      what: `350 answers of vector.fetch, ${VECTORS.toLocaleString('en')} x ${DIMENSION} values each, never read`,
      orders: [
        {
          connections: 350,
          addresses: addresses(1),
          manner: 'unread',
          requests: [post(url, '/v1/vector/fetch', secret, fetched)],
        },
      ],
    },
    {
      name: 'bombs',
      what: '1,000 calls at a time of a key for error events, each 4 MiB as some 60 bytes of brotli',
      orders: [{ connections: 1_000, addresses: addresses(1), manner: 'calls', requests: [bomb(url, dsnSecret)] }],
    },
  ];
}

function refused(url: string, { secret }: BenchAccount): Scenario[] {
  const tier = get(url, '/v1/account/tier', secret);
  return [
    {
      name: 'forged-keys',
      what: '64 connections call with keys that are none, each another',
      orders: [{ connections: 64, addresses: addresses(1), manner: 'calls', requests: 'forged' }],
    },
    {
      name: 'over-limits',
      what: '512 connections of one account call account.tier without a pause',
      orders: [{ connections: 512, addresses: addresses(1), manner: 'calls', requests: [tier] }],
    },
  ];
}

const idleConnections: Scenario = {
  name: 'idle-connections',
  what: `${IDLE_CONNECTIONS.toLocaleString('en')} connections of 20 addresses that send nothing`,
  probesHealth: true,
  orders: [1, 2].map((half) => ({
    connections: IDLE_CONNECTIONS / 2,
    addresses: addresses(half, 10),
    manner: 'holds' as const,
    requests: [Buffer.alloc(0)],
  })),
};

function lockedWallets(url: string, locked: readonly BenchAccount[]): Scenario {
  const publishes = locked.map(({ secret }) => post(url, '/v1/queue/publish', secret, BODY));
  return {
    name: 'locked-wallets',
    what: 'two accounts publish while another connection of the database holds their wallets',
    locked,
    orders: [{ connections: 16, addresses: addresses(1), manner: 'calls', requests: publishes }],
  };
}

/** A body for queue.publish, consume and keys.create alike, as far as their own fields go. */
function unknownNames(): string {
  const known = `"queue":"${QUEUE}","name":"${QUEUE}","message_id":"qmsg_0"`;
  const unknown = Array.from({ length: UNKNOWN_NAMES }, (_, n) => `"u${n.toString(36)}":${n % 1_000}`);
  return `{${known},${unknown}}`.padEnd(MIB, ' ');
}

function announced(url: string, secret: string, bytes: number): Buffer {
  const headers = `Host: ${new URL(url).host}\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json`;
  return Buffer.from(`POST /v1/vector/upsert HTTP/1.1\r\n${headers}\r\nContent-Length: ${bytes}\r\n\r\n`);
}

/** An envelope with the longest event there may be and an attachment that fills it up: it unfolds to 70,000 times its length. */
function bomb(url: string, secret: string): Buffer {
  const event = `{}\n{"type":"event"}\n${JSON.stringify({ message: 'a'.repeat(MIB - 100) })}\n`;
  const attachment = '{"type":"attachment"}\n';
  const body = brotliCompressSync(event + attachment + 'a'.repeat(4 * MIB - event.length - attachment.length));
  const headers = `Host: ${new URL(url).host}\r\nX-Sentry-Auth: Sentry sentry_version=7, sentry_key=${secret}\r\nContent-Encoding: br`;
  const line = 'POST /v1/errors/sentry/api/1/envelope/ HTTP/1.1';
  return Buffer.concat([Buffer.from(`${line}\r\n${headers}\r\nContent-Length: ${body.length}\r\n\r\n`), body]);
}
