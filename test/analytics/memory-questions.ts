// Questions at random to the module's own functions and to the plain reference.
import { expect } from 'vitest';
import type { Position } from '../../src/modules/analytics/queries/event-scan.ts';
import { eventsOf } from '../../src/modules/analytics/queries/find-events.ts';
import { funnelOf } from '../../src/modules/analytics/queries/funnel.ts';
import { retentionOf } from '../../src/modules/analytics/queries/retention.ts';
import { trendOf } from '../../src/modules/analytics/queries/trends.ts';
import { DAY_MS } from './harness.ts';
import type { MemoryAnalytics } from './memory-analytics.ts';
import { DAYS, type Random, type RandomEvents } from './random.ts';
import { plainValue, startsOf } from './reference.ts';

type Ask = (own: MemoryAnalytics, source: RandomEvents, random: Random) => Promise<void>;

export const askAnything: Ask = (own, source, random) => source.one(questions)(own, source, random);

const askTrend: Ask = async (own, source, random) => {
  const events = random(4) === 0 ? null : [...new Set([source.name(), source.name(), source.name()])];
  const math = source.one(['total', 'uniques', 'sum', 'avg'] as const);
  const isNumeric = math === 'sum' || math === 'avg';
  const property = isNumeric ? source.one(['amount', 'plan', 'rare1']) : null;
  const breakdown = random(3) === 0 ? source.property() : null;
  const filter = random(2) === 0 ? [] : source.filter();
  const interval = source.one(['hour', 'day', 'week', 'month'] as const);
  const includeBots = random(3) === 0;
  const asked = { ...source.period(), events, math, property, breakdown, filter, interval, include_bots: includeBots };
  const { times, lines } = await trendOf(own.question(asked), {
    events,
    math,
    property,
    breakdown,
    filter,
    interval,
    includeBots,
  });
  expect(times.map((time) => Date.parse(time))).toEqual(startsOf(asked));
  const wanted = (events ?? [null]).flatMap((event, series) => {
    const counted = own.reference
      .list({ ...asked, event })
      .filter(({ properties }) => property === null || typeof properties[property] === 'number');
    const values = new Set(counted.map((each) => plainValue(each, breakdown)));
    return [...values].map((value) => ({
      series,
      value,
      isOther: false,
      ...own.reference.trend(asked, event, breakdown === null ? undefined : value),
    }));
  });
  wanted.sort((a, b) => a.series - b.series || b.total - a.total || ((a.value ?? '') < (b.value ?? '') ? -1 : 1));
  // Of equal size the order of no value and of an empty one is open.
  const sorted = (list: readonly object[]) => list.map((each) => JSON.stringify(each, ORDER)).sort();
  expect(sorted(lines), JSON.stringify(asked)).toEqual(sorted(wanted));
  expect(lines.map(({ total }) => total)).toEqual(wanted.map(({ total }) => total));
};

const ORDER = ['series', 'value', 'isOther', 'values', 'total'];

const askFunnel: Ask = async (own, source, random) => {
  const steps = Array.from({ length: 2 + random(3) }, () => ({
    event: source.name(),
    filter: random(3) === 0 ? source.filter() : [],
  }));
  const breakdown = random(3) === 0 ? source.property() : null;
  const windowSeconds = source.one([60, 3_600, 86_400, 14 * 86_400]);
  const includeBots = random(3) === 0;
  const asked = { ...source.period(), steps, breakdown, window_seconds: windowSeconds, include_bots: includeBots };
  const args = { steps, breakdown, includeBots, windowMs: windowSeconds * 1_000 };
  const lines = await funnelOf(own.question(asked), args);
  const told = lines.map(({ value, counts }) => JSON.stringify([value, counts])).sort();
  const wanted = own.reference.funnels(asked).map(({ value, counts }) => JSON.stringify([value, counts]));
  expect(told, JSON.stringify(asked)).toEqual(wanted.sort());
};

const askRetention: Ask = async (own, source, random) => {
  const days = 1 + random(2);
  const periods = 2 + random(DAYS);
  const asked = {
    start_event: source.nameOrAny(),
    return_event: source.nameOrAny(),
    days,
    periods,
    from: new Date(source.startMs - random(3) * DAY_MS).toISOString(),
    include_bots: random(3) === 0,
  };
  const fromMs = Date.parse(asked.from);
  const starts = Float64Array.from({ length: periods }, (_, i) => fromMs + i * days * DAY_MS);
  const to = new Date(fromMs + periods * days * DAY_MS).toISOString();
  const rows = await retentionOf(own.question({ from: asked.from, to }), {
    startEvent: asked.start_event,
    returnEvent: asked.return_event,
    starts,
    includeBots: asked.include_bots,
  });
  expect(rows, JSON.stringify(asked)).toEqual(own.reference.retention(asked));
};

const askEvents: Ask = async (own, source, random) => {
  const [event, id] = [source.nameOrAny(), random(2) === 0 ? null : source.id()];
  const includeBots = random(3) === 0;
  const asked = { ...source.period(), event, include_bots: includeBots };
  const numbers = id === null ? null : own.numbersOf(id);
  const found: object[] = [];
  let after: Position | null = null;
  for (let hasMore = true; hasMore; ) {
    const limit = 1 + random(100);
    const page = await eventsOf(own.question(asked), { event, numbers, after, limit, includeBots });
    for (const each of page.events) {
      const properties = JSON.parse(each.properties) as object;
      const distinct_id = own.nameOf(each.id);
      found.push({ event: each.name, distinct_id, timestamp: new Date(each.timeMs).toISOString(), properties });
    }
    after = page.events.at(-1) ?? null;
    hasMore = page.hasMore;
  }
  const person = id === null ? null : own.reference.personOf(id);
  const wanted = own.reference.list(asked).filter((each) => person?.ids.has(each.distinct_id) !== false);
  expect(found, JSON.stringify({ ...asked, id })).toEqual(wanted.reverse());
};

const askPerson: Ask = async (own, source) => {
  const id = source.id();
  const { ids, isIdentified } = own.reference.personOf(id);
  const told = own.personOf(id);
  // Whoever was never seen, or was deleted, is nobody.
  expect(told.ids.length === 0 ? [id] : told.ids.sort()).toEqual([...ids].sort());
  expect(told.isIdentified).toBe(isIdentified);
};

const questions: readonly Ask[] = [askTrend, askTrend, askFunnel, askRetention, askEvents, askPerson];
