// The real SDK, three major releases of it, in processes of their own: what a program reports is what is stored.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROJECT } from '../support/process.ts';
import { ErrorsBench } from './harness.ts';
import { SentryBench } from './sentry-harness.ts';

let service: ErrorsBench;
beforeAll(async () => {
  service = await ErrorsBench.start();
});
afterAll(() => service.service.stop());

const PROGRAM = join(PROJECT, 'test/support/sentry-program.ts');

interface Sent {
  readonly scenario: string;
  readonly id: string;
  readonly status: number | null;
}

interface Ran {
  readonly sent: readonly Sent[];
  readonly code: number;
  readonly stderr: string;
}

/** Those that can follow each other in one process. */
const TOGETHER = ['exception', 'causes', 'aggregate', 'large', 'attachment', 'parameters', 'message', 'fingerprint'];

/** Runs scenarios of the program, one after the other, to its end. */
async function run(bench: SentryBench, release: number, scenarios: string[], ...tunnel: string[]): Promise<Ran> {
  const child = spawn(process.execPath, [PROGRAM, String(release), scenarios.join(), bench.dsn, ...tunnel], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  const [[code], stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
  return { sent: lines.map((line) => JSON.parse(line) as Sent), code, stderr };
}

describe.each([8, 9, 10])('@sentry/node %i', (release) => {
  let bench: SentryBench;
  let together: Ran;
  beforeAll(async () => {
    bench = await SentryBench.of(service);
    together = await run(bench, release, TOGETHER);
  });

  /** What one scenario sent, of a process of several where it can be. */
  const ran = async (name: string): Promise<Ran> => {
    if (!TOGETHER.includes(name)) return run(bench, release, [name]);
    return { ...together, sent: together.sent.filter(({ scenario }) => scenario === name) };
  };

  /** The one event that a scenario sends. */
  const one = async (scenario: string, exit = 0) => {
    const { sent, code, stderr } = await ran(scenario);
    expect({ code, statuses: sent.map(({ status }) => status) }, stderr).toEqual({ code: exit, statuses: [200] });
    return bench.captured((sent[0] as Sent).id);
  };

  test('an exception comes with its stack, user, tags, breadcrumbs and surroundings, scrubbed', async () => {
    const event = await one('exception');
    expect(event).toMatchObject({
      title: 'TypeError: cannot charge visa',
      level: 'error',
      environment: 'staging',
      release: 'shop@1.4.2',
      user_id: 'u-17',
      tags: { region: 'eu', attempt: '3', server_name: 'web-1' },
      exception: { type: 'TypeError', value: 'cannot charge visa', handled: true, mechanism: { handled: true } },
      extra: { order: { number: 17 } },
      sdk: { name: 'sentry.javascript.node' },
      runtime: { name: 'node', version: process.version },
      fingerprint_source: 'default',
      group_count: 1,
    });
    const [frame] = event.exception.stacktrace;
    expect(frame).toMatchObject({ func: 'charge', in_app: true });
    expect(frame.file).toMatch(/sentry-program\.ts$/);
    expect(frame.line).toBe(readFileSync(PROGRAM, 'utf8').split('throw new TypeError')[0]?.split('\n').length);
    expect(frame.context_line).toContain('throw new TypeError');
    expect([frame.context_pre.length, frame.context_post.length]).toEqual([5, 5]);
    expect(event.breadcrumbs.at(-1)).toMatchObject({
      category: 'checkout',
      message: 'pay pressed',
      level: 'warning',
      data: { step: 4 },
    });
    expect(event.context.cart).toEqual({ items: 2, password: '[scrubbed]' });
    expect(event.user).toEqual({ id: 'u-17', email: '[scrubbed]', ip_address: '[scrubbed]' });
    expect(Math.abs(Date.parse(event.timestamp) - Date.now())).toBeLessThan(60_000);
  });

  test('causes stand behind what was thrown, nearest first', async () => {
    const { exception } = await one('causes');
    expect(exception).toMatchObject({ type: 'TypeError', value: 'order not saved' });
    expect(exception.chain).toMatchObject([
      { type: 'Error', value: 'no connection' },
      { type: 'RangeError', value: 'port out of range' },
    ]);
    for (const each of exception.chain) expect(each.stacktrace.length).toBeGreaterThan(0);
  });

  test('an AggregateError has all of its errors behind it, each with its own cause', async () => {
    const { exception, title } = await one('aggregate');
    expect(title).toBe('AggregateError: both failed');
    const behind = exception.chain.map(
      ({ type, value, chain = [] }: { type: string; value: string; chain?: { value: string }[] }) => [
        type,
        value,
        chain.map((each) => each.value),
      ],
    );
    expect(behind).toHaveLength(2);
    expect(behind).toEqual(
      expect.arrayContaining([
        ['TypeError', 'one', []],
        ['RangeError', 'two', ['behind two']],
      ]),
    );
  });

  test('an event over 32 KiB comes whole', async () => {
    expect((await one('large')).extra.text).toBe('wide ü '.repeat(20_000));
  });

  test('an event with 5 MiB attached comes without them, of a user known by e-mail', async () => {
    const event = await one('attachment');
    expect(event).toMatchObject({ title: 'Error: with a dump', user: { email: '[scrubbed]' } });
    expect(event.user_id).toMatch(/^hashed_/);
  });

  test('a message with parameters is filled in, and one group whatever they are', async () => {
    const { sent, stderr } = await ran('parameters');
    expect(
      sent.map(({ status }) => status),
      stderr,
    ).toEqual([200, 200]);
    const events = await Promise.all(sent.map(({ id }) => bench.captured(id)));
    expect(events.map(({ message }) => message).sort()).toEqual(['order 17 failed', 'order 18 failed']);
    expect(new Set(events.map((event) => event.error_group_id)).size).toBe(1);
  });

  test('a message is one', async () => {
    expect(await one('message')).toMatchObject({
      message: 'disk is nearly full',
      title: 'disk is nearly full',
      level: 'warning',
    });
  });

  test('behind a tunnel the key stands in the envelope only', async () => {
    const { sent } = await run(bench, release, ['message'], bench.url('envelope', null));
    expect(sent.map(({ status }) => status)).toEqual([200]);
    expect((await bench.captured((sent[0] as Sent).id)).message).toBe('disk is nearly full');
  });

  test('fingerprints make the groups', async () => {
    const { sent, stderr } = await ran('fingerprint');
    expect(
      sent.map(({ status }) => status),
      stderr,
    ).toEqual([200, 200, 200]);
    const events = await Promise.all(sent.map(({ id }) => bench.captured(id)));
    const groups = new Map(events.map((event) => [event.exception.value, event.error_group_id]));
    expect(groups.get('first')).toBe(groups.get('second'));
    expect(groups.get('third')).not.toBe(groups.get('first'));
    expect(events.map((event) => event.fingerprint_source)).toEqual(['user', 'user', 'user']);
  });

  test('an exception that nobody catches is reported before the process ends', async () => {
    expect(await one('uncaught', 1)).toMatchObject({
      title: 'TypeError: cannot charge nobody catches this',
      level: 'fatal',
      exception: { handled: false, mechanism: { handled: false } },
    });
  });

  test('so is a rejection that nobody handles', async () => {
    expect((await one('rejection')).exception.value).toBe('nobody handles this');
  });

  test('without credit the SDK holds back what comes after the first refusal', async () => {
    const poor = await SentryBench.of(service, 0);
    const { sent } = await run(poor, release, ['held_back']);
    expect(sent.map(({ status }) => status)).toEqual([429, null]);
    expect(await poor.countEvents()).toBe(0);
  });
});
