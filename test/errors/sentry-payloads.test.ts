// Events as SDKs of other languages write them, and what can be read of them afterwards.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedIn } from '../support/console.ts';
import { dump } from './dump.ts';
import { ErrorsBench } from './harness.ts';
import { eventId, SentryBench } from './sentry-harness.ts';

type Fields = Record<string, unknown>;

let bench: SentryBench;
beforeAll(async () => {
  bench = await SentryBench.of(await ErrorsBench.start());
});
afterAll(() => bench.service.stop());

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
async function captured(event: Fields, on = bench): Promise<any> {
  const sent = { event_id: eventId(), ...event };
  const reply = await on.sendEvent(sent);
  expect(reply.status, reply.text).toBe(200);
  return on.captured(sent.event_id);
}

const java = {
  platform: 'java',
  sdk: { name: 'sentry.java', version: '8.2.0' },
  exception: {
    values: [
      {
        type: 'ConnectException',
        module: 'java.net',
        value: 'Connection refused',
        thread_id: 1,
        stacktrace: {
          frames: [
            {
              function: 'connect',
              module: 'java.net.PlainSocket',
              filename: 'PlainSocket.java',
              lineno: -2,
              native: true,
            },
          ],
        },
        mechanism: { type: 'chained', exception_id: 1, parent_id: 0 },
      },
      {
        type: 'SQLException',
        module: 'java.sql',
        value: 'no connection',
        stacktrace: {
          frames: [
            { function: 'run', module: 'java.lang.Thread', filename: 'Thread.java', lineno: 833, in_app: false },
            { function: 'pay', module: 'com.example.shop.Pay', filename: 'Pay.java', lineno: 42, in_app: true },
          ],
        },
        mechanism: { type: 'UncaughtExceptionHandler', handled: false, exception_id: 0 },
      },
    ],
  },
};

const native = {
  platform: 'native',
  exception: {
    values: [
      {
        type: 'SIGSEGV',
        value: 'Segfault',
        mechanism: { type: 'signalhandler', handled: false, meta: { signal: { number: 11, name: 'SIGSEGV' } } },
        stacktrace: {
          frames: [
            { instruction_addr: '0x00007f6b2c4111111', symbol_addr: '0x7f6b2c411000', package: '/lib/libc.so.6' },
            { instruction_addr: '0x000055d4c1a2b3c4', function: 'pay(Order const&)', package: '/usr/bin/shop' },
          ],
        },
      },
    ],
  },
};

const python = {
  platform: 'python',
  logentry: { message: 'order %s of %(what)s', params: ['17'] },
  level: 'warning',
  logger: 'shop.pay',
};

describe('Java', () => {
  test('keeps the modules of exceptions and frames, and how each was caught, wherever it is read', async () => {
    const event = await captured(java);
    expect(event.title).toBe('SQLException: no connection');
    expect(event.exception).toMatchObject({
      module: 'java.sql',
      handled: false,
      mechanism: { type: 'UncaughtExceptionHandler', handled: false, exception_id: 0 },
      stacktrace: [
        { func: 'pay', file: 'Pay.java', line: 42, module: 'com.example.shop.Pay', in_app: true },
        { func: 'run', file: 'Thread.java', module: 'java.lang.Thread', in_app: false },
      ],
      chain: [
        { type: 'ConnectException', module: 'java.net', stacktrace: [{ line: 0, module: 'java.net.PlainSocket' }] },
      ],
    });
    const detail = await bench.detail(event.error_group_id);
    expect(detail.representative_event.exception).toEqual(event.exception);
  });

  test('shows them on the page', async () => {
    const { error_group_id: group } = await captured({ ...java, fingerprint: ['page'] });
    const visitor = await signedIn(bench.service.url, bench.account.secret);
    const { text } = await visitor.get(`/console/errors/${group}`);
    for (const shown of ['java.sql', 'UncaughtExceptionHandler', 'not handled', 'com.example.shop.Pay', 'java.net']) {
      expect(text).toContain(shown);
    }
  });
});

test('native frames keep their addresses, in the API and on the page', async () => {
  const event = await captured(native);
  expect(event.exception).toMatchObject({
    handled: false,
    mechanism: { type: 'signalhandler', meta: { signal: { number: 11, name: 'SIGSEGV' } } },
    stacktrace: [
      { func: 'pay(Order const&)', file: '/usr/bin/shop', instruction_addr: '0x000055d4c1a2b3c4' },
      { func: '', file: '/lib/libc.so.6', instruction_addr: '0x00007f6b2c4111111' },
    ],
  });
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  expect((await visitor.get(`/console/errors/${event.error_group_id}`)).text).toContain('0x000055d4c1a2b3c4');
});

test('a log line is filled in from its parameters, and one group whatever they are', async () => {
  const lines = ['17', '18'].map((order) =>
    captured({ ...python, logentry: { message: 'order %s', params: [order] } }),
  );
  const [first, second] = await Promise.all(lines);
  expect([first.message, second.message, second.title]).toEqual(['order 17', 'order 18', 'order 18']);
  expect(first.error_group_id).toBe(second.error_group_id);
  expect((await captured(python)).message).toBe('order 17 of %(what)s');
});

test('parameters of a log line are scrubbed like the line', async () => {
  const logentry = { message: 'login with password=%s', params: ['swordfish'] };
  expect((await captured({ logentry })).message).not.toContain('swordfish');
});

test('users with long numbers as ids are told apart', async () => {
  const own = await SentryBench.of(bench);
  for (const id of ['9223372036854775807', '9223372036854775806']) {
    const text = JSON.stringify({ event_id: eventId(), message: 'who', user: { id: 0 } });
    const reply = await own.post(own.url('store'), text.replace('"id":0', `"id":${id}`));
    expect(reply.status, reply.text).toBe(200);
  }
  const { items } = await own.list();
  expect(items.map((item: { user_id: string }) => item.user_id)).toEqual([
    '9223372036854775806',
    '9223372036854775807',
  ]);
});

test('users with an address only are counted by a hash, and the address is stored nowhere', async () => {
  const own = await SentryBench.of(bench);
  const users = [
    { email: 'carol.unique@example.org' },
    { email: 'Carol.Unique@example.org', ip_address: '198.51.100.91' },
    { username: 'carol.unique@example.org' },
    { ip_address: '198.51.100.91' },
    { ip_address: '{{auto}}' },
    { id: 7, email: 'carol.unique@example.org' },
  ];
  const events = await Promise.all(users.map((user) => captured({ message: 'who', user }, own)));
  const [email, spelt, name, ip, auto, id] = events.map(({ user_id: userId }) => userId);
  expect(email).toMatch(/^hashed_[\w-]{22}$/);
  expect([spelt, name, auto, id]).toEqual([email, email, null, '7']);
  expect(ip).toMatch(/^hashed_[\w-]{22}$/);
  const detail = await own.detail(events[0].error_group_id);
  expect(detail).toMatchObject({
    count: 6,
    user_count: 3,
    user_distribution: { [email]: 3, [ip]: 1, '7': 1, '(none)': 1 },
  });
  const stored = (await dump(bench.service.core)).toLowerCase();
  expect(stored).not.toContain('carol.unique');
  expect(stored).not.toContain('198.51.100.91');
});
