// Tables in the spirit of Prometheus' own test files (promql/promqltest/testdata: literals, operators, aggregators, functions, histograms, selectors,
// staleness, range_queries) and of promql-compliance's queries: series in its notation (`0+10x5`, `_` for no sample, `stale`), an expression, what it
// answers. Series, expressions and numbers are ours; each answer here is that of Prometheus, which test/metrics/promql-peer asks at random.
import { describe } from 'vitest';
import { load, MINUTE_MS, near, table } from './notation.fixture.ts';

describe('literals', () => {
  table([], 0, [
    ['12.34e6', 12_340_000],
    ['-0x1f', -31],
    ['.5', 0.5],
    ['+Inf', Infinity],
    ['-inf', -Infinity],
    ['nan', Number.NaN],
    ['1 / 0', Infinity],
    ['0 / 0', Number.NaN],
    ['5 % 3', 2],
    ['-5 % 3', -2],
    ['5 % 0', Number.NaN],
    ['2 ^ 3 ^ 2', 512],
    ['-2 ^ 2', -4],
    ['2 * 3 - 4 / 8', 5.5],
    ['1 - 2 - 3', -4],
    ['- - 3', 3],
    ['1 - - 3', 4],
    ['--3', 3],
    ['+ 3', 3],
    ['(1 + 2) * 3', 9],
    ['1 == bool 1', 1],
    ['1 > bool 2', 0],
    ['1 + 2 != bool 4', 1],
    ['"it\\u0027s"', "it's"],
    ["'single \\'quoted\\''", "single 'quoted'"],
    ['`raw \\n`', 'raw \\n'],
  ]);
});

const fleet = load(
  5 * MINUTE_MS,
  `bookings{city="rome", desk="1", tier="gold"} 0+3x12
   bookings{city="rome", desk="2", tier="gold"} 0+6x12
   bookings{city="rome", desk="1", tier="free"} 0+9x12
   bookings{city="oslo", desk="1", tier="gold"} 0+12x12
   bookings{city="oslo", desk="2", tier="free"} 0+15x12
   desk_info{desk="1", floor="ground"} 1+0x12
   desk_info{desk="2", floor="upper"} 1+0x12
   quota{city="rome"} 100+0x12
   quota{city="oslo"} 400+0x12`,
);

describe('operators', () => {
  table(fleet, 50, [
    ['sum by (city) (bookings) - count by (city) (bookings)', { '{city="rome"}': 177, '{city="oslo"}': 268 }],
    ['2 - sum(bookings) by (city)', { '{city="rome"}': -178, '{city="oslo"}': -268 }],
    ['-bookings{city="rome", desk="2"}', { '{city="rome", desk="2", tier="gold"}': -60 }],
    ['+bookings{city="rome", desk="2"}', { 'bookings{city="rome", desk="2", tier="gold"}': 60 }],
    ['- - - sum(bookings)', { '{}': -450 }],
    ['900 / sum(bookings)', { '{}': 2 }],
    ['sum(bookings) % 7', { '{}': 2 }],
    ['sum(bookings) ^ 2', { '{}': 202_500 }],
    ['sum(bookings) / 0', { '{}': Infinity }],
    ['-1 * sum(bookings) / 0', { '{}': -Infinity }],
    ['0 * sum(bookings) / 0', { '{}': Number.NaN }],
    ['bookings > 100', bookingsOf('oslo 1 gold', 120, 'oslo 2 free', 150)],
    ['100 < bookings', bookingsOf('oslo 1 gold', 120, 'oslo 2 free', 150)],
    [
      'bookings{desk="2"} >= bool 150',
      { '{city="rome", desk="2", tier="gold"}': 0, '{city="oslo", desk="2", tier="free"}': 1 },
    ],
    ['bookings == 60', bookingsOf('rome 2 gold', 60)],
    ['bookings{city="oslo"} != 120', bookingsOf('oslo 2 free', 150)],
    ['bookings > bookings', {}],
    ['sum(bookings) == bool sum(bookings)', { '{}': 1 }],
  ]);
});

describe('sets and joins', () => {
  table(fleet, 50, [
    ['bookings and on (city) (quota < 200)', bookingsOf('rome 1 gold', 30, 'rome 2 gold', 60, 'rome 1 free', 90)],
    ['bookings and ignoring (tier, city) desk_info', {}],
    [
      'bookings{tier="free"} or bookings{desk="2"}',
      bookingsOf('rome 1 free', 90, 'oslo 2 free', 150, 'rome 2 gold', 60),
    ],
    ['bookings{city="rome"} unless bookings{tier="gold"}', bookingsOf('rome 1 free', 90)],
    ['bookings{city="rome"} unless on (desk) desk_info{floor="ground"}', bookingsOf('rome 2 gold', 60)],
    ['(quota + 1) or quota', { '{city="rome"}': 101, '{city="oslo"}': 401 }],
    [
      'quota / on (city) sum by (city) (bookings)',
      { '{city="rome"}': near(100 / 180), '{city="oslo"}': near(400 / 270) },
    ],
    [
      'bookings{city="oslo"} / on (city) group_left quota',
      { '{city="oslo", desk="1", tier="gold"}': 0.3, '{city="oslo", desk="2", tier="free"}': 0.375 },
    ],
    [
      'bookings{city="oslo"} * on (desk) group_left (floor) desk_info',
      {
        '{city="oslo", desk="1", floor="ground", tier="gold"}': 120,
        '{city="oslo", desk="2", floor="upper", tier="free"}': 150,
      },
    ],
    [
      'desk_info * on (desk) group_right (floor) bookings{city="oslo"}',
      {
        '{city="oslo", desk="1", floor="ground", tier="gold"}': 120,
        '{city="oslo", desk="2", floor="upper", tier="free"}': 150,
      },
    ],
    ['sum by (desk) (bookings) * ignoring (floor) desk_info', { '{desk="1"}': 240, '{desk="2"}': 210 }],
    ['bookings{tier="gold"} - ignoring (tier) bookings{tier="free"}', { '{city="rome", desk="1"}': -60 }],
    ['quota + on (city) nothing', {}],
  ]);
});

describe('aggregations', () => {
  table(fleet, 50, [
    ['sum(bookings)', { '{}': 450 }],
    ['sum by () (bookings)', { '{}': 450 }],
    ['SUM(bookings) BY (city)', { '{city="rome"}': 180, '{city="oslo"}': 270 }],
    ['sum without (desk, tier) (bookings)', { '{city="rome"}': 180, '{city="oslo"}': 270 }],
    ['sum by (city, nothing) (bookings)', { '{city="rome"}': 180, '{city="oslo"}': 270 }],
    ['avg(bookings)', { '{}': 90 }],
    ['min(bookings) + max(bookings)', { '{}': 180 }],
    ['count(bookings > 60)', { '{}': 3 }],
    ['count(bookings > 1000)', {}],
    ['group by (tier) (bookings)', { '{tier="gold"}': 1, '{tier="free"}': 1 }],
    ['stddev(bookings)', { '{}': near(Math.sqrt(1_800)) }],
    ['stdvar by (city) (bookings)', { '{city="rome"}': 600, '{city="oslo"}': 225 }],
    ['topk(2, bookings)', bookingsOf('oslo 2 free', 150, 'oslo 1 gold', 120)],
    ['bottomk(1, bookings)', bookingsOf('rome 1 gold', 30)],
    ['topk by (city) (1, bookings)', bookingsOf('oslo 2 free', 150, 'rome 1 free', 90)],
    ['topk(0, bookings)', {}],
    ['topk(99999999999, quota)', { 'quota{city="rome"}': 100, 'quota{city="oslo"}': 400 }],
    ['quantile(0.5, bookings)', { '{}': 90 }],
    ['quantile(0.9, bookings)', { '{}': 138 }],
    ['quantile(-1, bookings)', { '{}': -Infinity }],
    ['quantile(2, bookings)', { '{}': Infinity }],
    ['quantile(NaN, bookings)', { '{}': Number.NaN }],
  ]);

  const odd = load(MINUTE_MS, `odd{i="1"} NaN\nodd{i="2"} 3\nodd{i="3"} -Inf`);
  table(odd, 0, [
    ['max(odd)', { '{}': 3 }],
    ['min(odd)', { '{}': -Infinity }],
    ['sum(odd)', { '{}': Number.NaN }],
    ['topk(1, odd)', { 'odd{i="2"}': 3 }],
    ['bottomk(1, odd)', { 'odd{i="3"}': -Infinity }],
    ['max(odd{i="1"})', { '{}': Number.NaN }],
  ]);

  // Which of equal ones are chosen: those of Prometheus' heap.
  const ties = load(MINUTE_MS, 'tie{i="1"} 1\ntie{i="2"} 1\ntie{i="3"} 2\ntie{i="4"} 1');
  table(ties, 0, [
    ['topk(1, tie{i!="3"})', { 'tie{i="1"}': 1 }],
    ['topk(2, tie)', { 'tie{i="2"}': 1, 'tie{i="3"}': 2 }],
    ['bottomk(2, tie)', { 'tie{i="1"}': 1, 'tie{i="2"}': 1 }],
    ['bottomk(1, tie{i!="1"})', { 'tie{i="2"}': 1 }],
  ]);
});

/** Of pairs of city, desk and tier, and a value. */
function bookingsOf(...of: readonly (string | number)[]): Record<string, number> {
  const entries: [string, number][] = [];
  for (let i = 0; i < of.length; i += 2) {
    const [city, desk, tier] = String(of[i]).split(' ');
    entries.push([`bookings{city="${city}", desk="${desk}", tier="${tier}"}`, of[i + 1] as number]);
  }
  return Object.fromEntries(entries);
}
