// Bounds time: a stop within ten seconds is the guarantee.
// A test attempt that hangs does not hold up the end of the service.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';
import { allowedMs } from '../support/slowness.ts';
import { LOCAL_TARGETS, until, WebhookCaller } from './api-harness.ts';

let silent: Server;
let reached = 0;

beforeAll(async () => {
  silent = createServer(() => {
    reached += 1;
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  silent.closeAllConnections();
  silent.close();
});

test('the service stops within 10 s, and the caller is told that the attempt was ended', async () => {
  const service = await startTestService({ env: LOCAL_TARGETS });
  const own = await WebhookCaller.of(service);
  const { webhook_id: id } = await own.register(`http://127.0.0.1:${(silent.address() as AddressInfo).port}/`);
  const calling = own.test(id);
  await until(() => reached === 1, 'the receiver is reached');
  const startedMs = performance.now();
  await service.stop();
  expect(performance.now() - startedMs).toBeLessThan(allowedMs(10_000));
  expect(await calling).toMatchObject({ status: 'failed', http_status: null, error_code: expect.any(String) });
});
