import { expect, test } from 'vitest';
import type { EventDetail } from './draft.ts';
import { packLines, readyDetail, readySentDetail, unpackLine } from './event-detail.ts';

const NOW_MS = Date.UTC(2026, 0, 2);
const beside = { fingerprint_source: 'user', idempotency_key: 'k' } as const;

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
    readySentDetail(`{"extra":{"note":"${`the same but for ${n}`.repeat(20)}"}}`, beside),
  );
  expect(packLines(lines as string[]).length).toBeLessThan(lines.join('\n').length / 10);
});

test('a long detail is a block by itself', () => {
  const detail = detailOf({ lines: Array.from({ length: 2_000 }, (_, n) => `line ${n} of naïve 🚀 text`) });
  const block = readyDetail(detail, detail) as Buffer;
  expect(block.length).toBeLessThan(JSON.stringify(detail).length / 3);
  expect(unpackLine(block, 0, NOW_MS)).toEqual(detail);
});

test('an event stored as it was sent is read as its parts', () => {
  const sent = {
    exception: 'refused',
    breadcrumbs: [{ message: 'é' }],
    service: 'mailer',
    code: 'E1',
    tags: { a: 'b' },
  };
  const detail = {
    ...detailOf({ code: 'E1' }),
    ...beside,
    exception: { type: 'Message', value: 'refused', stacktrace: [] },
    breadcrumbs: [{ at: '2026-01-02T00:00:00.000Z', category: '', message: 'é', level: null, data: null }],
    context: { service: 'mailer' },
  };
  const [long, text] = [{ sent: 'x'.repeat(100_000) }, JSON.stringify(sent)];
  const lines = [
    readySentDetail(text, beside),
    readyDetail(detail, detail),
    readySentDetail(`{"extra":{"sent":"${long.sent}"}}`, beside),
  ];
  expect(lines.map((line) => typeof line)).toEqual(['string', 'string', 'object']);
  const block = packLines(lines.slice(0, 2) as string[]);
  expect(unpackLine(block, 0, NOW_MS)).toEqual(detail);
  expect(unpackLine(block, 1, NOW_MS)).toEqual(detail);
  expect(unpackLine(lines[2] as Buffer, 0, NOW_MS).extra).toEqual(long);
});
