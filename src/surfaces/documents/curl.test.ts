import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { fixtureManifest } from '../../../test/contract/fixture.ts';
import type { Capability } from '../../kit/capability.ts';
import { curlOfExample } from './curl.ts';

/** Arguments that a shell gives to curl when it runs the commands of the first example, one list per command. */
function argumentsOf(id: string): string[][] {
  const capability = fixtureManifest.byId.get(id) as Capability;
  const [example] = capability.examples;
  if (example === undefined) throw new Error('no example');
  const commands = curlOfExample(fixtureManifest, capability, example, 'http://127.0.0.1:8787');
  const script = `curl() { printf '%s\\n' "$@" --; }; QM_KEY=secret\n${commands}`;
  const printed = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
  return printed
    .split('--\n')
    .map((lines) => lines.trim().split('\n'))
    .slice(0, -1);
}

test('a body survives the shell, quotes and all', () => {
  expect(argumentsOf('parcel.send')).toEqual([
    [
      '-sS',
      '-X',
      'POST',
      'http://127.0.0.1:8787/v1/parcel/send/books',
      '-H',
      'Authorization: Bearer secret',
      '-H',
      'Content-Type: application/json',
      '-d',
      `{"kind":"box","items":[{"label":"Bob's <books>"}]}`,
    ],
  ]);
});

test('lists are repeated in the query and objects are sent as JSON', () => {
  expect(argumentsOf('parcel.list')[0]?.[1]).toBe(
    'http://127.0.0.1:8787/v1/parcel/list?kinds=box&kinds=bag&filter=%7B%22weight%22%3A5%7D',
  );
});

test('earlier calls come first, and what they answer is named in the place where it goes', () => {
  const [first, second] = argumentsOf('parcel.drop');
  expect(first?.[1]).toBe('http://127.0.0.1:8787/v1/parcel/list');
  expect(second?.[3]).toBe('http://127.0.0.1:8787/v1/parcel/drop/NAME?why=lost');
});
