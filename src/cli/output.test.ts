import { expect, test } from 'vitest';
import { table, wrapTable } from './output.ts';

const rows = [
  ['ID', 'NAME', 'PAYLOAD'],
  ['qmsg_0vTq3mX', 'jobs', '{"task":"resize","image":17,"sizes":[100,200,400]}'],
];

test('a table whose lines fit is left as it is', () => {
  expect(table(rows, 100)).toBe(
    'ID            NAME  PAYLOAD\nqmsg_0vTq3mX  jobs  {"task":"resize","image":17,"sizes":[100,200,400]}',
  );
});

test('the widest cells are cut, so that no line is longer than the terminal', () => {
  const lines = table(rows, 40).split('\n');
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
  expect(lines[1]).toBe('qmsg_0vTq3mX  jobs  {"task":"resize","i…');
});

test('of many columns those that have no room are left out', () => {
  const wide = [Array.from({ length: 30 }, (_, i) => `COLUMN_${i}`), Array.from({ length: 30 }, () => 'x'.repeat(40))];
  for (const line of table(wide, 80).split('\n')) {
    expect(line.length).toBeLessThanOrEqual(80);
    expect(line.length).toBeGreaterThan(60);
  }
});

test('texts go on in the next line, and no word is cut', () => {
  const text = 'Name of the queue: letters, digits, dots, underscores and hyphens, up to 80 of them.';
  const lines = wrapTable([['  queue', 'string', 'required', text]], 70).split('\n');
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(70);
  expect(lines.map((line) => line.slice(27).trim()).join(' ')).toBe(text);
});
