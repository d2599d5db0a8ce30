// The live tail: what is stored from now on and matches, each record once, until the key ends.
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAccount } from '../support/service.ts';
import { LogsBench } from './harness.ts';

let shared: LogsBench;
beforeAll(async () => {
  shared = await LogsBench.start();
});
afterAll(() => shared.service.stop());

async function follow(logs: LogsBench, query = '') {
  const controller = new AbortController();
  const reply = await fetch(`${logs.service.url}/v1/logs/tail?${query}`, {
    headers: { authorization: `Bearer ${logs.account.secret}` },
    signal: controller.signal,
  });
  expect(reply.status).toBe(200);
  const body = reply.body as ReadableStream<Uint8Array>;
  const events = body
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  return {
    async next(): Promise<{ message: string }> {
      const { value } = await events.read();
      return JSON.parse(value?.data ?? 'null');
    },
    leave: () => controller.abort(),
  };
}

test.each([
  'filter.zone=eu',
  'filter[zone]=eu',
  'filter=[{"field":"zone","operator":"equals","value":"eu"}]',
  // The name that the field had.
  'attributes.zone=eu',
])('records that match come as they are stored, in their order, with merges in between: %s', async (zone) => {
  const logs = await shared.withAccount();
  await logs.ingest([{ message: 'before' }]);
  const tail = await follow(logs, `level=warn&q=disk&${zone}`);
  const record = (message: string, level = 'error', of = 'eu') => ({ message, level, attributes: { zone: of } });
  await logs.ingest([
    record('disk one'),
    record('disk two', 'info'),
    record('disk three', 'error', 'us'),
    record('other'),
  ]);
  expect((await tail.next()).message).toBe('disk one');
  await logs.ingest([record('disk four')]);
  await logs.sweep('merge');
  await logs.ingest([record('disk five', 'fatal')]);
  expect((await tail.next()).message).toBe('disk four');
  expect((await tail.next()).message).toBe('disk five');
  tail.leave();
});

async function statusOfTail(logs: LogsBench): Promise<number> {
  const { status, body } = await fetch(`${logs.service.url}/v1/logs/tail`, {
    headers: { authorization: `Bearer ${logs.account.secret}` },
  });
  await body?.cancel();
  return status;
}

test('streams are bounded by account, and refuse what they do not know', async () => {
  const logs = await shared.withAccount();
  const open = await Promise.all(Array.from({ length: 5 }, () => follow(logs)));
  expect((await logs.call('GET', '/v1/logs/tail')).body.error.code).toBe('CONCURRENCY_LIMITED');
  // Those of the request log count apart.
  const { status, body } = await fetch(`${logs.service.url}/v1/account/requests/tail`, {
    headers: { authorization: `Bearer ${logs.account.secret}` },
  });
  expect(status).toBe(200);
  await body?.cancel();
  for (const tail of open) tail.leave();
  await expect.poll(() => statusOfTail(logs)).toBe(200);
  for (const query of ['colour=red', 'level=loud', 'trace_id=1', 'from=2026-01-01T00:00:00Z', 'filter=zone'])
    expect((await logs.call('GET', `/v1/logs/tail?${query}`)).body.error.code).toBe('VALIDATION_FAILED');
});

test('a key without the scope follows nothing', async () => {
  const account = await createTestAccount(shared.service.core, 1, ['logs.ingest']);
  const logs = new LogsBench(shared.service, account);
  expect((await logs.call('GET', '/v1/logs/tail')).body.error.code).toBe('INSUFFICIENT_SCOPE');
});
