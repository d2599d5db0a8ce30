import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { askNameServers } from '../../src/modules/email/domains/resolver.ts';
import { type Misbehaviour, type NameServer, startNameServer } from '../support/name-server.ts';

let names: NameServer;

beforeAll(async () => {
  names = await startNameServer();
});
afterEach(() => names.clear());
afterAll(() => names.stop());

const txt = (name: string) => askNameServers([names.address], (ask) => ask.txt(name));
const mx = (name: string) => askNameServers([names.address], (ask) => ask.mx(name));

test('a text of several chunks is one, and several records stay apart', async () => {
  const long = `v=DKIM1; p=${'A'.repeat(392)}`;
  names.set('TXT', 'acme.test', long, 'other');
  expect(await txt('acme.test')).toEqual([long, 'other']);
});

test('mail hosts come the best first, in lower case', async () => {
  names.set('MX', 'acme.test', '20 Second.acme.test', '5 FIRST.acme.test');
  expect(await mx('acme.test')).toEqual([
    { priority: 5, exchange: 'first.acme.test' },
    { priority: 20, exchange: 'second.acme.test' },
  ]);
});

test('a name that does not exist, and one without such records, have none', async () => {
  names.set('A', 'acme.test', '192.0.2.1');
  expect([await txt('acme.test'), await txt('none.test'), await mx('none.test')]).toEqual([[], [], []]);
});

test('an alias leads to the records of its name', async () => {
  names.set('CNAME', 'alias.test', 'acme.test');
  names.set('TXT', 'acme.test', 'v=DKIM1; p=B');
  expect(await txt('alias.test')).toEqual(['v=DKIM1; p=B']);
});

describe('hostile answers', () => {
  test('64 KB of text are fetched by TCP, and cut', async () => {
    names.set('TXT', 'long.test', 'x'.repeat(60_000));
    expect(await txt('long.test')).toEqual(['x'.repeat(4_096)]);
    expect(names.asked).toContain('tcp TXT long.test');
  });

  test('of a thousand records the first 32 are read', async () => {
    names.set('TXT', 'many.test', ...Array.from({ length: 1_000 }, (_, i) => `record ${i}`));
    expect(await txt('many.test')).toHaveLength(32);
  });

  test('silence, answers to other questions, failures and garbage are no answers, and end in time', async () => {
    const ways: Misbehaviour[] = ['silence', 'wrong id', 'servfail', 'refused', 'garbage', 'cut'];
    // Twice the time after which all is given up.
    const late = AbortSignal.timeout(16_000);
    const answers = ways.map(async (how, number) => {
      names.misbehave(`bad${number}.test`, how);
      return [how, await txt(`bad${number}.test`)];
    });
    expect(await Promise.all(answers)).toEqual(ways.map((how) => [how, 'unanswered']));
    expect(late.aborted).toBe(false);
  });

  test('an alias of itself leads nowhere', async () => {
    names.misbehave('bad.test', 'loop');
    expect(await txt('bad.test')).toEqual([]);
  });

  test('servers that are not there do not answer', async () => {
    expect(await askNameServers(['127.0.0.1:1'], (ask) => ask.txt('acme.test'))).toBe('unanswered');
  });
});
