// Spans are written as OpenTelemetry's own serializer writes them.
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { expect, test } from 'vitest';
import { type EndedSpan, exportRequest } from '../../src/core/tracing/otlp.ts';

const SECOND_MS = 1_000;
const span: EndedSpan = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  parentSpanId: 'b7ad6b7169203331',
  name: 'POST /v1/queue/publish',
  kind: 'server',
  isError: true,
  startUnixMs: 1_795_873_200_000.25,
  endUnixMs: 1_795_873_200_017.5,
  attributes: { text: 'Zürich "x"', whole: 200, part: 0.25, yes: true, no: false, absent: null },
};
const KINDS = { internal: 0, server: 1, client: 2 };

type Serialized = Parameters<typeof JsonTraceSerializer.serializeRequest>[0][number];

/** Seconds and nanoseconds. */
function hrTime(unixMs: number): [number, number] {
  const seconds = Math.floor(unixMs / SECOND_MS);
  return [seconds, Math.round((unixMs - seconds * SECOND_MS) * 1e6)];
}

function theirs({ attributes, ...of }: EndedSpan, resource: Record<string, string>): Serialized {
  const { absent: _, ...present } = attributes;
  const context = (spanId: string) => ({ traceId: of.traceId, spanId, traceFlags: 1 });
  return {
    name: of.name,
    kind: KINDS[of.kind],
    spanContext: () => context(of.spanId),
    ...(of.parentSpanId === null ? {} : { parentSpanContext: context(of.parentSpanId) }),
    startTime: hrTime(of.startUnixMs),
    endTime: hrTime(of.endUnixMs),
    duration: [0, 0],
    ended: true,
    status: { code: of.isError ? 2 : 0 },
    attributes: present,
    links: [],
    events: [],
    resource: { attributes: resource },
    instrumentationScope: { name: 'quartermaster' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  } as unknown as Serialized;
}

/** Without what is empty, zero or the same for all: that is how JSON leaves out defaults. */
function meant(request: string) {
  return JSON.parse(request, (key, value) => {
    if (key === 'flags' || key.startsWith('dropped') || (Array.isArray(value) && value.length === 0)) return undefined;
    if (key === 'intValue') return String(value);
    return key === 'status' && (value.code ?? 0) === 0 ? {} : value;
  });
}

test.each([
  ['with a parent, an error and attributes of every kind', span],
  ['that begins its trace', { ...span, parentSpanId: null, isError: false, kind: 'client' } as const],
])('a span %s', (_, each) => {
  const resource = { 'service.name': 'quartermaster' };
  const bytes = JsonTraceSerializer.serializeRequest([theirs(each, resource)]);
  expect(meant(exportRequest(resource, [each]))).toEqual(meant(Buffer.from(bytes as Uint8Array).toString()));
});
