// What the page of a group shows: what group_detail answers.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allowedMs } from '../support/slowness.ts';
import { Visitor } from './console-visitor.ts';
import { ErrorsBench } from './harness.ts';

let bench: ErrorsBench;
let visitor: Visitor;
beforeAll(async () => {
  bench = await ErrorsBench.start();
  visitor = new Visitor(bench);
});
afterAll(() => bench.service.stop());

async function pageOf(groupId: string): Promise<string> {
  await visitor.signIn(groupId, bench.account.secret);
  const { status, text } = await visitor.open(groupId);
  expect(status, text).toBe(200);
  return text;
}

/** The text of a page as a reader sees it, on one line. */
function readable(page: string): string {
  return page
    .replace(/<style>.*?<\/style>|<title>.*?<\/title>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
}

const frame = (func: string, inApp: boolean) => ({
  func,
  file: `${func}.ts`,
  line: 12,
  col: 3,
  in_app: inApp,
  context_pre: ['line ten', 'line eleven'],
  context_line: 'line twelve',
  context_post: ['line thirteen'],
  vars: { n: 1 },
});

test('counts, state, stack, surroundings, comments and activity are on it', async () => {
  const event = {
    fingerprint: 'shown',
    title: 'Checkout failed',
    message: 'no such price',
    level: 'fatal',
    environment: 'production',
    tags: { region: 'eu' },
    exception: {
      type: 'PriceError',
      value: 'price of A-17',
      stacktrace: [frame('ours', true), frame('theirs', false)],
    },
    breadcrumbs: [{ at: '2026-01-02T03:04:05Z', category: 'http', message: 'GET /cart', data: { status: 200 } }],
    request: { method: 'GET', url: 'https://shop.example.org/cart' },
    context: { memory_mb: 412 },
  };
  await bench.capture({ ...event, user_id: 'u-1', release: '1.0' });
  await bench.capture({ ...event, user_id: 'u-1', release: '1.1' });
  const { error_group_id: groupId } = await bench.capture({ ...event, user_id: 'u-2', release: '1.1' });
  await bench.change('comment', groupId, { text: 'first line\nsecond line' });
  await bench.change('assign', groupId, { assigned_to: 'price-agent' });
  await bench.change('resolve', groupId);

  const page = await pageOf(groupId);
  const text = readable(page);
  for (const part of [
    'fatal resolved',
    'Assigned to price-agent',
    'Events 3 Users 2 Last 24 hours 3 24 hours before 0',
    'First seen just now',
    'PriceError price of A-17',
    'ours ours.ts:12:3 app',
    '10 line ten 11 line eleven 12 line twelve 13 line thirteen',
    'Local variables { &quot;n&quot;: 1 }',
    '2026-01-02 03:04:05 UTC http GET /cart Data { &quot;status&quot;: 200 }',
    'Message no such price',
    'region:eu 3 100 %',
    '1.1 2 67 %',
    'u-1 2 67 % u-2 1 33 %',
    'production 3 100 %',
    '&quot;url&quot;: &quot;https://shop.example.org/cart&quot;',
    '&quot;memory_mb&quot;: 412',
    'first line second line',
    'Resolved',
    'Assigned to price-agent',
    'Commented',
  ])
    expect(text).toContain(part);
  expect(page.match(/<rect class="(bar|none)" x="/g)).toHaveLength(24);
  expect(page.match(/<details class="frame" open>/g)).toHaveLength(1);
  expect(page.match(/<details class="frame">/g)).toHaveLength(1);
});

test('a group of a single text has a page, and a stack that was sent as text', async () => {
  const plain = await bench.capture({ message: 'only this' });
  const text = readable(await pageOf(plain.error_group_id));
  expect(text).toContain('error unresolved only this Assigned to nobody');
  expect(text).not.toMatch(/Exception|Breadcrumbs|Comments|Message only/);
  const stack = 'Traceback (most recent call last):\n  File "job.py", line 3';
  const sent = await bench.capture({
    message: 'with a stack',
    exception: { type: 'E', value: 'v', stacktrace: stack },
  });
  expect(readable(await pageOf(sent.error_group_id))).toContain(
    'Stack trace Traceback (most recent call last): File &quot;job.py&quot;, line 3',
  );
});

test('an event as large as one may be makes a page of a bounded size in little time', async () => {
  const vars = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`v${i}`, '<&"'.repeat(20)]));
  const stacktrace = Array.from({ length: 220 }, (_, i) => ({ ...frame(`f${i}`, i % 2 === 0), vars }));
  const { error_group_id: groupId } = await bench.capture({
    message: '<'.repeat(100_000),
    exception: { type: 'E', value: 'v', stacktrace },
  });
  const startedMs = performance.now();
  const page = await pageOf(groupId);
  expect(performance.now() - startedMs).toBeLessThan(allowedMs(2_000));
  expect(page.length).toBeLessThan(8 * 1024 * 1024);
  expect(page).toContain('90,000 more characters');
});

test('a group whose events are past retention keeps its page', async () => {
  const { error_group_id: groupId } = await bench.capture({ message: 'long ago', user_id: 'u-9' });
  await bench.service.advance(95 * 86_400);
  const text = readable(await pageOf(groupId));
  expect(text).toContain('long ago');
  expect(text).toContain('95 days ago');
  expect(text).toContain('Its events are past retention; the counts stay.');
  expect(text).toContain('u-9 1 100 %');
});
