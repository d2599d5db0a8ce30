// Counts the spans of a /v1/traces request. Spans are rejected, but answered properly, so programs that send all signals to one address work.

import { jsonOfBody } from '../../../kit/telemetry.ts';
import { listOf, membersOf } from '../../../lib/otlp/json.ts';
import { bytesTag, endOf, type OtlpReader, readProtobuf, requireEnd, skip } from '../../../lib/otlp/protobuf.ts';

const RESOURCE_SPANS = bytesTag(1);
const SCOPE_SPANS = bytesTag(2);
const SPAN = bytesTag(2);

export function countSpansInProtobuf(body: Buffer): number {
  return readProtobuf(body, (reader, end) =>
    sumOf(reader, end, RESOURCE_SPANS, (resourceEnd) =>
      sumOf(reader, resourceEnd, SCOPE_SPANS, (scopeEnd) =>
        sumOf(reader, scopeEnd, SPAN, (spanEnd) => {
          reader.pos = spanEnd;
          return 1;
        }),
      ),
    ),
  );
}

function sumOf(reader: OtlpReader, end: number, wanted: number, count: (end: number) => number): number {
  let sum = 0;
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === wanted) sum += count(endOf(reader, end));
    else skip(reader, tag);
  }
  requireEnd(reader, end);
  return sum;
}

export function countSpansInJson(body: Buffer): number {
  const { resourceSpans } = membersOf(jsonOfBody(body), 'the body');
  let spans = 0;
  for (const each of listOf(resourceSpans, 'resourceSpans')) {
    for (const scope of listOf(membersOf(each, 'an entry of resourceSpans').scopeSpans, 'scopeSpans')) {
      spans += listOf(membersOf(scope, 'an entry of scopeSpans').spans, 'spans').length;
    }
  }
  return spans;
}
