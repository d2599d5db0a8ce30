// Bodies and questions that mean harm: each is refused with a reason, soon, and the next call is answered.
import { compress } from 'snappyjs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MetricsBench, writeRequest } from './harness.ts';

let bench: MetricsBench;
beforeAll(async () => {
  bench = await MetricsBench.start();
  const points = Array.from({ length: 1_000 }, (_, i) => ({ name: 'wide', value: i, labels: { n: String(i) } }));
  await bench.ingest(points);
});
afterAll(() => bench.end());

const sound = writeRequest([{ labels: { __name__: 'a', b: 'c' }, samples: [[Date.now(), 1]] }]);
const snappy = (plain: Buffer) => Buffer.from(compress(plain));

test.each([
  ['nothing of snappy', Buffer.from('hello, world'), 400, /snappy/],
  ['a bomb of 4 GiB', Buffer.from([255, 255, 255, 255, 15, 0]), 400, /more than 8388608/],
  ['a literal of negative length', Buffer.from([100, 252, 251, 255, 255, 255, 0]), 400, /snappy/],
  ['protobuf that ends too early', snappy(sound.subarray(0, -3)), 400, /cannot be read/],
  [
    'a million labels',
    snappy(
      writeRequest([
        { labels: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`l${i}`, 'v'])), samples: [] },
      ]),
    ),
    400,
    /labels/,
  ],
  [
    'a series without a name',
    snappy(writeRequest([{ labels: { b: 'c' }, samples: [[Date.now(), 1]] }])),
    400,
    /no name/,
  ],
  [
    'more samples than are taken',
    snappy(
      writeRequest([
        { labels: { __name__: 'a' }, samples: Array.from({ length: 10_001 }, (_, i) => [Date.now() - i, 1] as const) },
      ]),
    ),
    400,
    /10000 samples/,
  ],
] as const)('remote write of %s is refused', async (_what, body, status, reason) => {
  const reply = await bench.writeBytes(body);
  expect(reply).toMatchObject({ status });
  expect(reply.text).toMatch(reason);
});

test('remote write 2.0 is 415', async () => {
  const type = 'application/x-protobuf;proto=io.prometheus.write.v2.Request';
  expect(await bench.writeBytes(snappy(sound), { 'content-type': type })).toMatchObject({ status: 415 });
});

test.each([
  ['20,000 characters', `sum(${'a'.repeat(20_000)})`, 400, /8192 characters/],
  ['deep nesting', `${'('.repeat(4_000)}1${')'.repeat(4_000)}`, 400, /nested/],
  ['a catastrophic expression', 'wide{n=~"(a+)+$"}', 200, null],
  ['an expression that unfolds', 'wide{n=~"(((a{100}){100}){100})"}', 400, /expression/],
  ['no PromQL', 'sum(', 400, /PromQL/],
  ['a name in quotes', '{"wide"}', 200, null],
  ['a label beyond ASCII', 'sum by (é) (wide)', 400, /PromQL/],
  ['what is not evaluated', 'limitk(1, wide)', 400, /limitk/],
  ['a subquery of a billion steps', 'max_over_time(wide[30d:1ms])', 422, /steps; at most/],
  [
    'subqueries in subqueries',
    `${'max_over_time('.repeat(20)}wide[1d:1s]${')[1d:1s]'.repeat(19)})`,
    422,
    /steps; at most/,
  ],
  // What Prometheus finds while it evaluates is 422.
  ['a cross join', 'wide * on () group_left () wide', 422, /match/],
  ['an unsaid many', 'wide * on () sum(wide)', 422, /group_left/],
  ['equal labels', 'label_replace(wide, "n", "x", "", "")', 422, /two series/],
  ['a label that is none', 'label_replace(wide, "n m", "x", "", "")', 422, /no name/],
  ['an expression that is none', 'label_replace(wide, "n", "x", "n", "(")', 422, /expression/],
  ['no number of series', 'topk(NaN, wide)', 422, /number of series/],
  ['too much work', 'label_replace(wide, "x", "$1", "n", "((a*)*){900}[0-9]+")', 422, /expressions of the query/],
] as const)('a query of %s is told so, with its status in Prometheus', async (_what, query, due, reason) => {
  const { status, body } = await bench.promAnswer('query', { query }, 'POST');
  expect(status).toBe(due);
  if (reason === null) return;
  expect(body).toMatchObject({ status: 'error', errorType: due === 422 ? 'execution' : 'bad_data' });
  expect(body.error).toMatch(reason);
});

test('what fails while it is evaluated is VALIDATION_FAILED in a call', async () => {
  const error = await bench.fails('POST', '/v1/metrics/query', { query: 'topk(NaN, wide)' });
  expect(error).toMatchObject({ code: 'VALIDATION_FAILED', code_detail: 'execution', param: 'query' });
});

test('a large expression over long labels is refused, and another account is answered meanwhile', async () => {
  const own = await bench.withAccount();
  const long = Array.from({ length: 40 }, (_, i) => ({
    name: 'lr',
    value: i,
    labels: { v: `${'a'.repeat(1_000)}${i}b` },
  }));
  await own.ingest(long);
  const queries = [
    'label_replace(lr,"x","$1","v","((a*)*){900}[0-9]+")',
    ...Array.from({ length: 4 }, () => 'lr{v=~"((a*)*){900}[0-9]+"}'),
  ];
  // On a busy machine the ten seconds of a query may be over first.
  const reasons = /expressions of the query|takes too long/;
  const refused = queries.map((query) => own.promAnswer('query', { query }, 'POST'));
  expect((await bench.promAnswer('query', { query: 'count(wide{n=~"1.*"})' }, 'POST')).status).toBe(200);
  const isRefused = { status: 422, body: { errorType: 'execution', error: expect.stringMatching(reasons) } };
  for (const answer of await Promise.all(refused)) expect(answer).toMatchObject(isRefused);
});

test('too many steps, and steps of nothing, are refused', async () => {
  const ask = (form: Record<string, string>) =>
    bench.promAnswer('query_range', { query: 'wide', start: '0', end: '100000', ...form });
  expect((await ask({ step: '1' })).body.error).toMatch(/11000/);
  expect((await ask({ step: '0' })).status).toBe(400);
  expect((await ask({ step: '10', end: 'x' })).body.error).toMatch(/end/);
});

test('another key sees nothing of it', async () => {
  const other = await bench.withAccount();
  expect((await other.prom('query', { query: 'wide' })).result).toEqual([]);
  expect(await other.prom('label/n/values')).toEqual([]);
});

test('live series beyond the limit are refused and named, the others are stored', async () => {
  const own = await bench.withAccount();
  for (let part = 0; part < 10; part += 1) {
    const series = Array.from({ length: 1_000 }, (_, i) => ({
      labels: { __name__: 'many', n: `${part}-${i}` },
      samples: [[Date.now(), 1]] as const,
    }));
    expect((await own.write(series)).status).toBe(204);
  }
  const answer = await own.ingest([
    { name: 'many', value: 2, labels: { n: '0-0' } },
    { name: 'one_more', value: 2 },
  ]);
  expect(answer).toMatchObject({ accepted: 1, rejected_count: 1, rejected: [{ index: 1 }] });
  expect(answer.rejected[0].reason).toMatch(/series limit reached: 10000 .*one_more/);
});
