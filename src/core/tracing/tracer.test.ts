import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { SpanExporter } from './exporter.ts';
import type { EndedSpan } from './otlp.ts';
import { Tracer } from './tracer.ts';
import type { SpanEnd } from './tracing.ts';

const END: SpanEnd = { name: 'x', kind: 'internal', attributes: {}, isError: false };

function tracerOf(ratio: number, followsCaller = true) {
  const ended: EndedSpan[] = [];
  const exporter = { add: (span: EndedSpan) => void ended.push(span) } as unknown as SpanExporter;
  return { tracer: new Tracer({ exporter, ratio, followsCaller }), ended };
}

const caller = (isSampled: boolean, traceId = '0'.repeat(31).concat('1')) => ({
  traceId,
  spanId: '2'.repeat(16),
  isSampled,
});

test('a span is told once, at its end', () => {
  const { tracer, ended } = tracerOf(1);
  const span = tracer.begin(null);
  expect(ended).toEqual([]);
  span.end(END);
  span.end({ ...END, name: 'again' });
  expect(ended).toMatchObject([{ name: 'x', traceId: span.traceId, spanId: span.spanId, parentSpanId: null }]);
});

test('a child begins and ends within its parent', async () => {
  const begunMs = Date.now();
  const { tracer, ended } = tracerOf(1);
  for (let i = 0; i < 50; i += 1) {
    const span = tracer.begin(null);
    const startedMs = performance.now();
    await sleep(0.1);
    tracer.add(span, { ...END, startedMs, endedMs: performance.now() });
    span.end(END);
  }
  for (let i = 0; i < ended.length; i += 2) {
    const [child, parent] = ended.slice(i, i + 2) as [EndedSpan, EndedSpan];
    expect(child.startUnixMs).toBeGreaterThanOrEqual(parent.startUnixMs);
    expect(child.endUnixMs).toBeLessThanOrEqual(parent.endUnixMs);
  }
  // Whole milliseconds of two clocks.
  const { endUnixMs } = ended.at(-1) as EndedSpan;
  expect([endUnixMs >= begunMs - 5, endUnixMs <= Date.now() + 5]).toEqual([true, true]);
});

test('what begins within a span may be its child, after awaits too, until it has ended', async () => {
  const { tracer } = tracerOf(1);
  const span = tracer.begin(null);
  expect(tracer.current).toBeNull();
  const late = await tracer.within(span, async () => {
    await Promise.resolve();
    expect(tracer.current).toBe(span);
    expect(tracer.begin(tracer.current)).toMatchObject({ traceId: span.traceId });
    return Promise.withResolvers<void>();
  });
  expect(tracer.current).toBeNull();
  const after = tracer.within(span, () => late.promise.then(() => tracer.current));
  span.end(END);
  late.resolve();
  expect(await after).toBeNull();
});

test('a caller that records its trace is followed, and one that does not, whatever the ratio', () => {
  for (const ratio of [0, 1]) {
    const { tracer } = tracerOf(ratio);
    expect([true, false].map((each) => tracer.begin(caller(each)).isSampled)).toEqual([true, false]);
    const own = tracerOf(ratio, false).tracer;
    expect([true, false].map((each) => own.begin(caller(each)).isSampled)).toEqual([ratio === 1, ratio === 1]);
  }
});

test('of traces that begin here the ratio is recorded, by their ids: every span of one alike', () => {
  const { tracer, ended } = tracerOf(0.25);
  const spans = Array.from({ length: 4_000 }, () => tracer.begin(null));
  const sampled = spans.filter(({ isSampled }) => isSampled);
  expect(sampled.length).toBeGreaterThan(850);
  expect(sampled.length).toBeLessThan(1_150);
  for (const span of spans.slice(0, 100))
    expect(tracer.begin({ traceId: span.traceId }).isSampled).toBe(span.isSampled);
  for (const span of spans) span.end(END);
  expect(ended).toHaveLength(sampled.length);
});

test('a traceparent says whether the trace is recorded', () => {
  const { tracer } = tracerOf(1);
  expect(tracer.begin(caller(true)).traceparent).toMatch(/^00-0{31}1-[0-9a-f]{16}-01$/);
  expect(tracer.begin(caller(false)).traceparent).toMatch(/^00-0{31}1-[0-9a-f]{16}-00$/);
});
