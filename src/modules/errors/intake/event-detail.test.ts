import { expect, test } from 'vitest';
import type { EventDetail } from './draft.ts';
import { packLines, readyDetail, unpackLine } from './event-detail.ts';

const NOW_MS = Date.UTC(2026, 0, 2);

const detailOf = (extra: Record<string, unknown>): EventDetail => ({
  exception: null,
  breadcrumbs: [],
  context: {},
  extra,
  sdk: null,
  runtime: null,
  request: null,
  user: null,
  fingerprint_source: 'default',
  idempotency_key: null,
});

test('short details wait for their block as JSON, whatever is in them', () => {
  const details = [{ note: 'naïve 🚀' }, { text: 'line\nline\r\n\u2028' }, {}].map(detailOf);
  const lines = details.map((detail) => readyDetail(detail, detail)) as string[];
  for (const repeated of [1, 100]) {
    const block = packLines(Array.from({ length: repeated }, () => lines).flat());
    for (const [line, detail] of details.entries()) expect(unpackLine(block, line, NOW_MS)).toEqual(detail);
    expect(unpackLine(block, 3 * repeated - 2, NOW_MS)).toEqual(details[1]);
  }
});

test('a block stays as it is while others are packed', () => {
  const sizes = [1, 100, 40_000, 400_000];
  const details = sizes.map((size) => detailOf({ note: `${size} é`.repeat(size) }));
  const blocks = details.map((detail) => packLines([JSON.stringify(detail)]));
  expect(blocks.map((block) => unpackLine(block, 0, NOW_MS))).toEqual(details);
});

test('a block of many takes less room than its JSON', () => {
  const lines = Array.from({ length: 32 }, (_, n) =>
    JSON.stringify(detailOf({ note: `the same but for ${n}`.repeat(20) })),
  );
  expect(packLines(lines).length).toBeLessThan(lines.join('\n').length / 10);
});

test('a long detail is a block by itself', () => {
  const detail = detailOf({ lines: Array.from({ length: 2_000 }, (_, n) => `line ${n} of naïve 🚀 text`) });
  const block = readyDetail(detail, detail) as Buffer;
  expect(block.length).toBeLessThan(JSON.stringify(detail).length / 3);
  expect(unpackLine(block, 0, NOW_MS)).toEqual(detail);
});
