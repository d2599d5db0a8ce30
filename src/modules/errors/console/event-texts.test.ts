// What the page makes of texts: escaped in every place, and of a bounded length.
import { expect, test } from 'vitest';
import { html } from '../../../lib/html.ts';
import { dayOfHours } from './day.ts';
import { breadcrumbs, instant } from './history.ts';
import { indentJson, jsonBlock, shorten } from './json-block.ts';
import { distribution } from './shares.ts';
import { type Exception, exceptions } from './stack.ts';

const hostile = `"><script>alert(1)</script><img src=x onerror='a'></textarea></pre>`;
const reader = { preferences: { theme: 'system', zone: 'Asia/Tokyo', keys: true, isChosen: true } } as const;
const tagsIn = (text: string) => new Set([...text.matchAll(/<\/?([a-z0-9]+)/g)].map(([, name]) => name));

test('no text of an exception, breadcrumb or distribution becomes markup', () => {
  const frame = {
    func: hostile,
    file: hostile,
    line: 3,
    col: 1,
    in_app: true,
    context_pre: [hostile],
    context_line: hostile,
    context_post: [hostile],
    vars: { [hostile]: hostile },
  };
  const all =
    html`${exceptions({ type: hostile, value: hostile, stacktrace: [frame], chain: [{ type: hostile, value: hostile, stacktrace: [] }] })}
${breadcrumbs(reader, [{ at: hostile, category: hostile, message: hostile, level: 'info', data: { [hostile]: [hostile] } }])}
${distribution('Tags', { [hostile]: 1 }, 1)}${jsonBlock({ [hostile]: { [hostile]: hostile } }, hostile)}`.text;
  for (const name of ['script', 'img', 'textarea']) expect(tagsIn(all)).not.toContain(name);
  expect(all).not.toMatch(/onerror='/);
  expect(all.split('&lt;script&gt;').length).toBeGreaterThan(15);
});

test('every exception behind another is shown, each followed by its own', () => {
  const error = (type: string, ...chain: Exception[]): Exception => ({
    type,
    value: '',
    stacktrace: [],
    chain,
  });
  const all = exceptions(error('Several', error('First', error('CauseOfFirst', error('Root'))), error('Second')));
  const names = all.map(({ text }) => /<h3[^>]*>(?:<span[^>]*>[^<]*<\/span>)?(\w+)/.exec(text)?.[1]);
  expect(names).toEqual(['Several', 'First', 'CauseOfFirst', 'Root', 'Second']);
});

test('the day has a bar for each hour and its figures as text', () => {
  const timeline = Array.from({ length: 24 }, (_, i) => ({
    ts: `2026-03-01T${String(i).padStart(2, '0')}:00:00.000Z`,
    count: i * 1_000,
  }));
  const { text } = dayOfHours(timeline);
  expect(text.match(/<rect /g)).toHaveLength(24);
  expect(text).toContain(
    'role="img" aria-label="Events per hour from 00:00 UTC, 24 hours, the running one last: 0; 1,000;',
  );
  expect(text).toContain('<title>23:00 UTC: 23,000 events</title>');
  expect(text).toContain('height="48"');
});

test('JSON of any depth and size stays short', () => {
  let deep: unknown = 'end';
  for (let i = 0; i < 5_000; i += 1) deep = [deep];
  expect(indentJson(deep).length).toBeLessThan(1_000);
  const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`name ${i}`, 'x'.repeat(100)]));
  expect(indentJson(wide).length).toBeLessThan(25_000);
  expect(indentJson(wide)).toMatch(/the event as a file has all of it$/);
  expect(indentJson({ a: [1, 'b\n', null], c: {}, d: [] })).toBe(
    '{\n  "a": [\n    1,\n    "b\\n",\n    null\n  ],\n  "c": {},\n  "d": []\n}',
  );
});

test('a text is cut between characters, and says how much is left out', () => {
  expect(shorten('abc', 3)).toBe('abc');
  expect(shorten('ab😀cd', 3)).toBe('ab … (4 more characters)');
  expect(shorten('abcdef', 2)).toBe('ab … (4 more characters)');
});

test('an instant has both zones, and what is none is shown as it was sent', () => {
  expect(instant(reader, '2026-03-01T10:20:30.5+01:00').text).toBe(
    '<time datetime="2026-03-01T09:20:30.500Z" title="2026-03-01 18:20:30 GMT+9">2026-03-01 09:20:30 UTC</time>',
  );
  expect(instant(reader, '<soon>').text).toBe('&lt;soon&gt;');
});
