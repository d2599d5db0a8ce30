// What an account of few series does to everybody else by questions and writes of metrics, and by streams of which many follow one channel.
import { labelsOf } from '../../src/modules/metrics/promql/labels.ts';
import { remoteWrite, remoteWriteHeaders } from '../../test/metrics/prometheus.ts';
import { get, post } from '../support/load.ts';
import type { BenchAccount, BenchService } from '../support/service.ts';
import type { AttackOrder } from './attacker.ts';
import type { Scenario } from './scenario.ts';

const LONG_LABELS = 40;
const EXPRESSION = '((a*)*){900}[0-9]+';
const STEPS = 11_000;
const STREAMS = 400;
const PUBLISHES_PER_SECOND = 8;
const WRITES_PER_SECOND = 10;
const WRITTEN_SERIES = 1_000;

/** `account` has the series that its questions read. */
export async function questionScenarios(
  { url, call }: Pick<BenchService, 'url' | 'call'>,
  { secret }: BenchAccount,
  addresses: readonly string[],
): Promise<Scenario[]> {
  const points = Array.from({ length: LONG_LABELS }, (_, i) => ({
    name: 'lr',
    type: 'gauge',
    value: i,
    labels: { v: `${'a'.repeat(1_000)}${i}b` },
  }));
  await call(secret, '/v1/metrics/ingest', { items: points });
  // The first question loads what answers questions.
  await call(secret, QUERY, { query: 'count(lr)' });
  const asked = (name: string, what: string, connections: number, path: string, body: object): Scenario => ({
    name,
    what,
    orders: [{ connections, addresses, manner: 'calls', requests: [post(url, path, secret, JSON.stringify(body))] }],
  });
  const floods = (
    connections: number,
    perSecond: number,
    requests: Buffer[],
  ): Omit<AttackOrder, 'seconds' | 'url'> => ({
    connections,
    addresses,
    manner: 'floods',
    perSecond,
    requests,
  });
  const [end, start] = [Date.now(), Date.now() - STEPS * 1_000 + 1_000].map((ms) => new Date(ms).toISOString());
  const event = { channel: 'room', event: 'said', data: 'x'.repeat(10_000) };
  return [
    asked('label-replace', 'label_replace with an expression of 7,000 instructions over 40 KB, 4 at once', 4, QUERY, {
      query: `label_replace(lr,"x","$1","v","${EXPRESSION}")`,
    }),
    asked('matchers', '4 matchers with an expression of 7,000 instructions over 40 KB', 4, QUERY, {
      query: `lr{v=~"${EXPRESSION}"}`,
    }),
    asked('unfolding', '4 expressions at once that unfold to 140,000 instructions', 4, QUERY, {
      query: `lr{v=~"${'a{1000}'.repeat(146)}"}`,
    }),
    asked('steps', '4 sums of 100 numbers at once over 11,000 steps, without any series', 4, `${QUERY}_range`, {
      query: Array.from({ length: 100 }, () => '1').join('+'),
      start,
      end,
      step_seconds: 1,
    }),
    {
      name: 'remote-writes',
      what: '10,000 samples a second by remote write, 1,000 series a body',
      orders: [floods(4, WRITES_PER_SECOND, [written(url, secret)])],
    },
    {
      name: 'streams',
      what: `${STREAMS} Server-Sent Events' streams of one channel, and ${PUBLISHES_PER_SECOND} publishes of 10 KB a second`,
      orders: [
        { connections: STREAMS, addresses, manner: 'holds', requests: [get(url, STREAM, secret)] },
        floods(1, PUBLISHES_PER_SECOND, [post(url, '/v1/realtime/publish', secret, JSON.stringify(event))]),
      ],
    },
  ];
}

const QUERY = '/v1/metrics/query';
const STREAM = '/v1/realtime/stream?channels=room';

function written(url: string, secret: string): Buffer {
  const series = Array.from({ length: WRITTEN_SERIES }, (_, n) => ({
    labels: labelsOf([
      ['__name__', `metric_${n % 50}`],
      ['instance', `host-${n}`],
      ['job', 'node'],
    ]),
    times: Float64Array.of(Date.now()),
    values: Float64Array.of(n),
  }));
  const body = remoteWrite(series);
  const headers = Object.entries({
    host: new URL(url).host,
    authorization: `Bearer ${secret}`,
    ...remoteWriteHeaders,
    'content-length': String(body.length),
  });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`POST /v1/metrics/prometheus/api/v1/write HTTP/1.1\r\n${lines}\r\n`), body]);
}
