// A domain whose records stand in a zone of this service is verified for e-mail: set by the API, answered by the port, found by module email.
import { expect, test } from 'vitest';
import { freePort } from '../support/process.ts';
import { startDnsBench } from './harness.ts';

test('email.domain.verify finds the records that dns.record.set has set', async () => {
  const port = await freePort();
  const bench = await startDnsBench({
    env: { DNS_PORT: String(port), DNS_RESOLVERS: `127.0.0.1:${port}` },
  });
  try {
    const owner = await bench.owner();
    await owner.zone('acme.test');
    const before = await owner.data('POST', '/v1/email/domain/verify', { domain: 'mail.acme.test' });
    expect(before.status).toBe('pending');
    for (const { type, name, value } of before.records as readonly { type: string; name: string; value: string }[]) {
      await owner.data('PUT', '/v1/dns/record/set', { zone: 'acme.test', name, type, values: [value] });
    }
    await expect
      .poll(async () => (await owner.data('POST', '/v1/email/domain/verify', { domain: 'mail.acme.test' })).status, {
        timeout: 50_000,
      })
      .toBe('verified');
  } finally {
    await bench.stop();
  }
});
