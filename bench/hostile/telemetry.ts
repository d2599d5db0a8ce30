// What one account's logs, samples and events do to everybody else: as much as it can send, and the questions that read the most.
import { get, post } from '../support/load.ts';
import type { BenchAccount, BenchService } from '../support/service.ts';
import type { Scenario } from './scenario.ts';

/** 50 bodies of 1 MiB a second. */
const FLOOD_PER_SECOND = 50;
const FLOOD_CONNECTIONS = 16;
const RECORDS = 1_000;
const PREPARED_BODIES = 200;
const QUESTIONS_AT_ONCE = 16;
const words = ['timeout', 'payment', 'worker', 'request', 'cache', 'retry', 'checkout', 'session'];

function records(body: number, padding: number) {
  const at = Date.now();
  return Array.from({ length: RECORDS }, (_, i) => ({
    timestamp: new Date(at - ((body * RECORDS + i) % 3_600_000)).toISOString(),
    level: i % 10 === 0 ? 'error' : 'info',
    service: `service-${i % 8}`,
    message: `${words[i % 8]} ${words[(i * 3 + 1) % 8]} ${body * RECORDS + i}${'x'.repeat(padding)}`,
    attributes: { 'http.status': 200 + (i % 5), user: `u${i % 977}` },
  }));
}

const events = (body: number) =>
  Array.from({ length: RECORDS }, (_, i) => ({
    event: `event-${i % 9}`,
    distinct_id: `p${(body * RECORDS + i) % 50_000}`,
    timestamp: new Date(Date.now() - ((body * RECORDS + i) % 86_400_000)).toISOString(),
    properties: { plan: `plan-${i % 5}`, [`name${body * RECORDS + i}`]: i },
  }));

const points = (body: number) =>
  Array.from({ length: RECORDS }, (_, i) => ({
    name: 'exploding',
    type: 'gauge',
    value: i,
    labels: { id: String(body * RECORDS + i) },
    timestamp: new Date().toISOString(),
  }));

/** `account` has what its questions read. */
export async function telemetryScenarios(
  { url, call }: Pick<BenchService, 'url' | 'call'>,
  { secret }: BenchAccount,
  addresses: readonly string[],
): Promise<Scenario[]> {
  for (let body = 0; body < PREPARED_BODIES; body += 1) {
    await call(secret, '/v1/logs/ingest', { items: records(body, 0) });
    if (body % 4 === 0) await call(secret, '/v1/analytics/capture', { items: events(body) });
  }
  const flood = (name: string, what: string, path: string, bodyOf: (body: number) => object): Scenario => ({
    name,
    what,
    orders: [
      {
        connections: FLOOD_CONNECTIONS,
        addresses,
        manner: 'floods',
        perSecond: FLOOD_PER_SECOND,
        requests: Array.from({ length: 8 }, (_, body) => post(url, path, secret, JSON.stringify(bodyOf(body)))),
      },
    ],
  });
  const asked = (name: string, what: string, request: Buffer): Scenario => ({
    name,
    what: `${QUESTIONS_AT_ONCE} ${what}`,
    orders: [{ connections: QUESTIONS_AT_ONCE, addresses, manner: 'calls', requests: [request] }],
  });
  return [
    flood('logs-flood', '50 bodies of 1 MiB a second, 1,000 log records each', '/v1/logs/ingest', (body) => ({
      items: records(body, 900),
    })),
    flood('metrics-flood', '50 calls a second, each with 1,000 series of their own', '/v1/metrics/ingest', (body) => ({
      items: points(body),
    })),
    flood('events-flood', '50 calls a second of 1,000 events with 1,000 names', '/v1/analytics/capture', (body) => ({
      items: events(body),
    })),
    asked(
      'logs-question',
      'searches at once, each through 200,000 records for words that no record has together',
      get(url, search, secret),
    ),
    asked('events-question', 'trends at once of unique people by a property', post(url, TRENDS, secret, trends())),
  ];
}

const search = `/v1/logs/search?q=${encodeURIComponent('timeout 404404404')}&filter.user=u1`;
const TRENDS = '/v1/analytics/trends';

function trends(): string {
  const day = { from: new Date(Date.now() - 86_400_000).toISOString(), to: new Date().toISOString() };
  const asked = { events: ['event-1', 'event-2'], ...day, interval: 'hour', math: 'uniques', breakdown: 'plan' };
  return JSON.stringify(asked);
}
