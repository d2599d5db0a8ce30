// Signatures of AWS clients on a real service: they let in whom their key lets in, as long as its secret lives.
import { createHash, createHmac } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { secretAccessKey } from '../../src/core/credentials/sigv4.ts';
import { secretHash } from '../../src/core/keys/api-key.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { type DepotState, depotModule } from './raw-fixture.ts';

const state: DepotState = { blobs: new Map(), taken: 0, gate: Promise.resolve(), made: 0 };
const log: string[] = [];
let bench: TestService;
let account: TestAccount;

beforeAll(async () => {
  bench = await startTestService({
    extraModules: [depotModule(state)],
    log: pino({ level: 'trace' }, { write: (line: string) => void log.push(line) }),
  });
});
afterAll(() => bench.stop());
beforeEach(async () => {
  account = await createTestAccount(bench.core, 1);
});

describe('credentials that are signatures', () => {
  const signed = (secretKey: string, { accessKeyId = account.keyId } = {}) => {
    const path = '/depot/x/a%20b';
    const { host } = new URL(bench.url);
    const instant = new Date().toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
    const scope = `${instant.slice(0, 8)}/us-east-1/s3/aws4_request`;
    const sign = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
    const names = 'host;x-amz-content-sha256;x-amz-date';
    const headers = `host:${host}\nx-amz-content-sha256:UNSIGNED-PAYLOAD\nx-amz-date:${instant}\n`;
    const request = `PUT\n${path}\n\n${headers}\n${names}\nUNSIGNED-PAYLOAD`;
    const text = `AWS4-HMAC-SHA256\n${instant}\n${scope}\n${createHash('sha256').update(request).digest('hex')}`;
    const key = scope.split('/').reduce((last, part) => sign(last, part), Buffer.from(`AWS4${secretKey}`));
    const signature = sign(key, text).toString('hex');
    return fetch(bench.url + path, {
      method: 'PUT',
      headers: {
        authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
        'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
        'x-amz-date': instant,
      },
      body: 'x',
    });
  };
  const secretKeyOf = (secret: string) => secretAccessKey(bench.core.secrets, secretHash(secret));

  test('stand for the key whose id they name, as long as its secret lives', async () => {
    expect((await signed(secretKeyOf(account.secret))).status).toBe(201);
    const rest = client(bench.url, account.secret);
    const rotated = await rest('POST', `/v1/account/keys/rotate/${account.keyId}`, { grace_hours: 1 });
    const fresh = rotated.body.data.key_secret as string;
    expect((await signed(secretKeyOf(fresh))).status).toBe(201);
    expect((await signed(secretKeyOf(account.secret))).status).toBe(201);
    const admin = await createKeyFor(fresh);
    await client(bench.url, admin)('DELETE', `/v1/account/keys/revoke/${account.keyId}`);
    for (const secret of [fresh, account.secret]) {
      const refused = await signed(secretKeyOf(secret));
      expect([refused.status, refused.headers.get('x-detail')]).toEqual([401, 'revoked']);
    }
  });

  test('are shown to every key for itself, the same at each call, in no cache and no log', async () => {
    const show = (secret: string) => client(bench.url, secret)('GET', '/v1/account/keys/aws');
    const { body, headers, status } = await show(account.secret);
    expect([status, headers.get('cache-control'), body.metadata.cost_usd]).toEqual([200, 'no-store', 0]);
    expect(body.data).toEqual({
      access_key_id: account.keyId,
      secret_access_key: secretKeyOf(account.secret),
      region: 'us-east-1',
      s3_endpoint: `${bench.url}/s3`,
      sqs_endpoint: `${bench.url}/sqs`,
    });
    expect((await show(account.secret)).body.data).toEqual(body.data);
    expect((await signed(body.data.secret_access_key)).status).toBe(201);
    const narrow = await createTestAccount(bench.core, 1, ['queue:read']);
    const theirs = (await show(narrow.secret)).body.data;
    expect([theirs.access_key_id, theirs.secret_access_key]).toEqual([narrow.keyId, secretKeyOf(narrow.secret)]);
    bench.core.log.info({}, 'all is logged');
    expect(log.join('')).toContain('all is logged');
    for (const secret of [body.data.secret_access_key, theirs.secret_access_key]) {
      expect(log.join('')).not.toContain(secret);
    }
  });

  test('that are wrong are refused and count as failed logins', async () => {
    const wrong = await signed('x'.repeat(40));
    expect([wrong.status, wrong.headers.get('x-detail')]).toEqual([401, 'signature']);
    expect((await signed('x'.repeat(40), { accessKeyId: 'key_nobody' })).headers.get('x-code')).toBe('INVALID_API_KEY');
    let last = wrong;
    for (let i = 0; i < 21 && last.status === 401; i += 1) last = await signed('x'.repeat(40));
    expect(last.headers.get('x-code')).toBe('RATE_LIMITED');
    expect((await signed(secretKeyOf(account.secret))).status).toBe(201);
  });

  const createKeyFor = async (secret: string) => {
    const { body } = await client(bench.url, secret)('POST', '/v1/account/keys/create', { name: 'admin' });
    return body.data.key_secret as string;
  };
});
