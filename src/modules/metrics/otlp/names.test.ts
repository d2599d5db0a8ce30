// Names by the rules of Prometheus' own translator of OTLP with suffixes and without UTF-8 (prometheus/otlptranslator): the cases are ours.
import { describe, expect, it } from 'vitest';
import { emptyMetric } from './metric.ts';
import { labelName, labelsFrom, metricName, targetOf } from './names.ts';

const GAUGE = { kind: 'gauge' } as const;
const COUNTER = { kind: 'sum', isMonotonic: true } as const;
const UP_DOWN = { kind: 'sum', isMonotonic: false } as const;
const HISTOGRAM = { kind: 'histogram' } as const;
const SUMMARY = { kind: 'summary' } as const;

describe('a metric is named by its name, its unit and its kind', () => {
  it.each([
    // What a name may not hold is an underscore, and several are one.
    ['http.server.active_requests', '', GAUGE, 'http_server_active_requests'],
    ['queue@@#$depth', '', GAUGE, 'queue_depth'],
    ['a__b', '', GAUGE, 'a_b'],
    ['_private_', '', GAUGE, 'private'],
    ['job:errors', '', GAUGE, 'job:errors'],
    ['3d.prints', '', GAUGE, '_3d_prints'],
    ['größe', '', GAUGE, 'gr_e'],
    ['数据', '', GAUGE, ''],
    ['', '', GAUGE, ''],
    // Units.
    ['heap', 'By', GAUGE, 'heap_bytes'],
    ['heap', 'MiBy', GAUGE, 'heap_mebibytes'],
    ['heap', 'MBy', GAUGE, 'heap_megabytes'],
    ['latency', 's', HISTOGRAM, 'latency_seconds'],
    ['latency', 'ms', SUMMARY, 'latency_milliseconds'],
    ['latency', 'us', HISTOGRAM, 'latency_microseconds'],
    ['latency', 'ns', HISTOGRAM, 'latency_nanoseconds'],
    ['age', 'min', GAUGE, 'age_minutes'],
    ['age', 'h', GAUGE, 'age_hours'],
    ['age', 'd', GAUGE, 'age_days'],
    ['room', 'Cel', GAUGE, 'room_celsius'],
    ['cpu.clock', 'Hz', GAUGE, 'cpu_clock_hertz'],
    ['disk.used', '%', GAUGE, 'disk_used_percent'],
    ['track', 'm', GAUGE, 'track_meters'],
    ['load', 'W', GAUGE, 'load_watts'],
    ['latency', ' s ', HISTOGRAM, 'latency_seconds'],
    ['sent', 'packets', COUNTER, 'sent_packets_total'],
    ['sent', 'tcp packets', COUNTER, 'sent_tcp_packets_total'],
    ['sent', 'toString', GAUGE, 'sent_toString'],
    // An annotation is no unit.
    ['sent', '{packet}', COUNTER, 'sent_total'],
    ['sent', '{packet}/s', GAUGE, 'sent_per_second'],
    ['sent', 'By/{packet}', GAUGE, 'sent_bytes'],
    // Rates.
    ['sent', 'By/s', GAUGE, 'sent_bytes_per_second'],
    ['sent', '1/s', GAUGE, 'sent_per_second'],
    ['sent', 'By/m', GAUGE, 'sent_bytes_per_minute'],
    ['sent', 'By/mo', GAUGE, 'sent_bytes_per_month'],
    ['sent', 'By/km', GAUGE, 'sent_bytes_per_km'],
    ['sent', 'By/', GAUGE, 'sent_bytes'],
    ['sent', '/s', GAUGE, 'sent_per_second'],
    ['sent', 'By/s/m', GAUGE, 'sent_bytes_per_s_m'],
    // A unit that the name has is not said again.
    ['heap.bytes', 'By', GAUGE, 'heap_bytes'],
    ['bytes.of.heap', 'By', GAUGE, 'bytes_of_heap'],
    // The translator's later versions say a rate twice; OpenTelemetry's rules say it once.
    ['sent_bytes_per_second', 'By/s', GAUGE, 'sent_bytes_per_second'],
    // A counter ends in total, a ratio in ratio.
    ['requests', '', COUNTER, 'requests_total'],
    ['requests', '1', COUNTER, 'requests_total'],
    ['requests.total', '', COUNTER, 'requests_total'],
    ['total.requests', 's', COUNTER, 'requests_seconds_total'],
    ['cpu', 's', COUNTER, 'cpu_seconds_total'],
    ['cpu_seconds_total', 's', COUNTER, 'cpu_seconds_total'],
    ['requests', '1/s', COUNTER, 'requests_per_second_total'],
    ['open', '', UP_DOWN, 'open'],
    ['open', '1', UP_DOWN, 'open'],
    ['open.total', '', UP_DOWN, 'open_total'],
    ['used', '1', GAUGE, 'used_ratio'],
    ['used.ratio', '1', GAUGE, 'used_ratio'],
    ['ratio.used', '1', GAUGE, 'used_ratio'],
    ['size', '1', HISTOGRAM, 'size'],
  ] as const)('%s in %j', (name, unit, kind, due) => {
    expect(metricName({ ...emptyMetric(), name, unit, ...kind })).toBe(due);
  });
});

describe('an attribute is a label', () => {
  it.each([
    ['http.method', 'http_method'],
    ['a--b', 'a__b'],
    ['2nd', 'key_2nd'],
    ['_own', 'key_own'],
    ['.own', 'key_own'],
    ['__reserved', '__reserved'],
    ['größe', 'gr__e'],
    ['a:b', 'a_b'],
  ])('%s', (name, due) => expect(labelName(name)).toBe(due));

  it('with its value as a text; values of one label stand behind each other, by the names of their attributes', () => {
    const labels = labelsFrom([
      ['z.b', 'second'],
      ['z-b', 'first'],
      ['n', 1.5],
      ['yes', true],
      ['list', ['a', 1]],
      ['none', null],
      ['', 'nameless'],
    ]);
    expect(Object.fromEntries(labels)).toEqual({
      z_b: 'first;second',
      n: '1.5',
      yes: 'true',
      list: '["a",1]',
      none: '',
    });
  });

  it.each([
    [{ 'service.name': 'shop' }, { job: 'shop' }, {}],
    [{ 'service.name': 'shop', 'service.namespace': 'eu' }, { job: 'eu/shop' }, {}],
    [{ 'service.namespace': 'eu', 'service.instance.id': 'i-1' }, { instance: 'i-1' }, {}],
    [
      { 'service.name': 'shop', 'host.name': 'h', 'service.version': '2' },
      { job: 'shop' },
      { host_name: 'h', service_version: '2' },
    ],
  ])('a resource is job, instance and target_info: %j', (resource, identity, info) => {
    const target = targetOf(new Map(Object.entries(resource)));
    expect([Object.fromEntries(target.identity), Object.fromEntries(target.info)]).toEqual([identity, info]);
  });
});
