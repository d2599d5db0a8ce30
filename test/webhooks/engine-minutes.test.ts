// Webhooks whose receivers take minutes: within the bound of the account, leased for as long, and in the way of nobody else.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAccount, type TestService } from '../support/service.ts';
import { deliveriesOf, deliveryWhen, emit, register, startEngine, startReceiver, until } from './engine-harness.ts';

let service: TestService;
beforeAll(async () => {
  service = await startEngine();
});
afterAll(() => service.stop());

const account = async () => (await createTestAccount(service.core)).accountId;

test('a delivery that is being answered is not made again when an ordinary lease is over, and succeeds at its first attempt', async () => {
  const waiting: ServerResponse[] = [];
  const slow = await startReceiver(
    (_, res) => new Promise<void>((answered) => res.once('close', answered) && waiting.push(res)),
  );
  const accountId = await account();
  const webhookId = await register(service.core, accountId, { url: slow.url, timeoutSeconds: 900 });
  await emit(service.core, accountId);
  await until(async () => waiting.length === 1);
  await service.advance(600);
  // A later event of the same webhook is claimed, so its line was looked at.
  await emit(service.core, accountId);
  const other = await startReceiver();
  await register(service.core, accountId, { url: other.url });
  await emit(service.core, accountId);
  await until(async () => other.seen.length === 1);
  expect(new Set(slow.ids()).size).toBe(slow.seen.length);
  waiting[0]?.writeHead(204).end();
  const rows = () => deliveriesOf(service.core, accountId, webhookId);
  await until(async () => (await rows()).some(({ status }) => status === 'succeeded'));
  const ended = (await rows()).find(({ event_id: id }) => id === slow.ids()[0]);
  expect(ended).toMatchObject({ status: 'succeeded', attempt: 1, http_status: 204 });
  await Promise.all([slow.close(), other.close()]);
});

test('an account has 20 such attempts at once; its short ones and other accounts go on, and the rest follows', async () => {
  const waiting: ServerResponse[] = [];
  const slow = await startReceiver(
    (_, res) => new Promise<void>((answered) => res.once('close', answered) && waiting.push(res)),
  );
  const quick = await startReceiver();
  const [own, other] = [await account(), await account()];
  const ids = [];
  for (let i = 0; i < 30; i += 1)
    ids.push(await register(service.core, own, { url: `${slow.url}/${i}`, timeoutSeconds: 600 }));
  await register(service.core, own, { url: `${quick.url}/own` });
  await register(service.core, other, { url: `${quick.url}/other`, timeoutSeconds: 900 });
  await emit(service.core, own);
  await emit(service.core, other);
  await until(async () => waiting.length === 20);
  await until(async () => quick.ids('/own').length === 1 && quick.ids('/other').length === 1);
  await service.advance(6);
  await emit(service.core, other);
  await until(async () => quick.ids('/other').length === 2);
  expect(waiting).toHaveLength(20);
  for (const response of waiting.splice(0)) response.writeHead(204).end();
  await service.advance(6);
  await until(async () => waiting.length === 10);
  for (const response of waiting) response.writeHead(204).end();
  for (const id of ids) {
    await deliveryWhen(service.core, own, id, ({ status }) => status === 'succeeded');
    expect(await deliveriesOf(service.core, own, id)).toMatchObject([{ attempt: 1, status: 'succeeded' }]);
  }
  expect(slow.seen).toHaveLength(30);
  await Promise.all([slow.close(), quick.close()]);
});
