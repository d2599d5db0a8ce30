// Bodies refused while they arrive: told once and at once, and nothing of them is kept.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRaw, type RawConnection } from '../support/raw.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { bearer, metric, untilMetric } from './harness.ts';

const MIB = 1024 * 1024;
const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
let service: TestService;
let account: TestAccount;

beforeAll(async () => {
  service = await startTestService({
    admission: { all: { bodyBytesMax: MIB, refusalHeldMaxMs: 600_000 }, account: { refusalsPerSecond: 0.5 } },
  });
  account = await createTestAccount(service.core);
});
afterAll(() => service.stop());

/** What was sent before it has been read once it is answered. */
async function callElsewhere(): Promise<void> {
  expect((await client(service.url, account.secret)('GET', '/v1/account/balance')).status).toBe(200);
}

/** Begins a publish whose body comes in chunks. */
async function upload(bytes: number): Promise<RawConnection> {
  const raw = await openRaw(service.url);
  const lines = ['POST /v1/queue/publish HTTP/1.1', 'Host: here', bearer(account.secret), 'Transfer-Encoding: chunked'];
  raw.send(`${lines.join('\r\n')}\r\n\r\n${chunk(bytes)}`);
  return raw;
}

test('are told at once, however often, so that no more of them arrives; what is wrong with the rest is not told too', async () => {
  const held = await upload(400_000);
  await untilMetric(service, 'qm_calls_running', 1);
  await expect.poll(() => metric(service, 'qm_body_bytes')).toBeGreaterThanOrEqual(400_000);
  const refused = [await upload(300_000), await upload(300_000), await upload(300_000)];
  for (const raw of refused) {
    // A refusal that is held comes after the test.
    expect(await raw.receive(undefined, 30_000)).toMatch(/^HTTP\/1\.1 429 /);
    // Beyond the limit of the operation; then more than is read of a refused body; then its end.
    for (const rest of [chunk(750_000), chunk(262_200), '0\r\n\r\n']) {
      raw.send(rest);
      await callElsewhere();
    }
  }
  for (const raw of refused) await expect.poll(() => raw.closed).toBe(true);
  for (const raw of refused) expect((await raw.receive(undefined, 0)).match(/HTTP\/1\.1 |"ok"/g)).toHaveLength(2);
  held.destroy();
  await untilMetric(service, 'qm_calls_running', 0);
  await callElsewhere();
});
