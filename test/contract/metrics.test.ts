// /metrics: who may read them, and what they say.
import { beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/process.ts';
import { openRaw } from '../support/raw.ts';
import { client, createTestAccount, startTestService } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

const BASE_URL = 'https://infra.example.org';

test('with a token, whoever sends it reads them, also behind a proxy', async () => {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const env = { BASE_URL, PORT: port, TRUST_PROXY: 'loopback', METRICS_TOKEN: 'a token for the metrics' };
  const service = await startTestService({ env });
  try {
    const { secret } = await createTestAccount(service.core);
    await client(url, secret)('GET', '/v1/account/balance');
    const read = (headers = {}) => client(url)('GET', '/metrics', undefined, headers);
    expect((await read()).status).toBe(403);
    expect((await read({ authorization: 'Bearer wrong' })).status).toBe(403);
    const { status, text } = await read({ authorization: 'Bearer a token for the metrics' });
    expect(status).toBe(200);
    expect(text).toContain('qm_calls_total{capability="account.balance",status="200"}');
  } finally {
    await service.stop();
  }
});

describe('without a token metrics are for this machine', () => {
  let plain: SharedService;
  beforeAll(async () => {
    plain = await sharedService();
  });

  const ask = async (...lines: string[]) => {
    const raw = await openRaw(plain.url);
    raw.send([...lines, 'Connection: close', '', ''].join('\r\n'));
    return (await raw.receive((text) => raw.closed && text !== '')).slice(9, 12);
  };
  const get = 'GET /metrics HTTP/1.1';

  test.each([
    'localhost',
    'localhost:8787',
    'LOCALHOST',
    '127.0.0.1:8787',
    '127.1.2.3',
    '[::1]:8787',
    '[::ffff:127.0.0.1]',
  ])('%s is this machine', async (host) => {
    expect(await ask(get, `Host: ${host}`)).toBe('200');
  });

  test.each([
    'metrics.example',
    'rebound.example:8787',
    'localhost.example',
    '10.0.0.1',
    '127.0.0.1.example',
    '127.0.0.1@evil.example',
  ])('a call to %s is not', async (host) => {
    expect(await ask(get, `Host: ${host}`)).toBe('403');
  });

  test.each([
    'X-Forwarded-For: 127.0.0.1',
    'Forwarded: for=127.0.0.1',
    'Via: 1.1 cache',
    'X-Forwarded-Proto: https',
    'X-Real-IP: 127.0.0.1',
    'CF-Connecting-IP: 127.0.0.1',
  ])('nor is what a proxy passes on with %s', async (header) => {
    expect(await ask(get, 'Host: localhost', header)).toBe('403');
  });

  test('nor what a proxy passes on in HTTP 1.0, without any header of its own', async () => {
    expect(await ask('GET /metrics HTTP/1.0', 'Host: localhost')).toBe('403');
  });

  test.each([
    ['TRUST_PROXY', '10.0.0.0/8'],
    ['BASE_URL', BASE_URL],
  ])(
    'behind a proxy (%s=%s) nothing tells its calls from those of this machine: not without a token',
    async (name, value) => {
      const port = String(await freePort());
      const behind = await startTestService({ env: { [name]: value, PORT: port } });
      try {
        const { status, text } = await client(`http://127.0.0.1:${port}`)('GET', '/metrics');
        expect({ status, text }).toEqual({ status: 403, text: expect.stringContaining('METRICS_TOKEN') });
      } finally {
        await behind.stop();
      }
    },
  );

  test('every metric stands with its kind below its help and its type, and no secret among them', async () => {
    const { text } = await client(plain.url)('GET', '/metrics');
    expect(unexplained(text)).toEqual([]);
    expect(text).toMatch(/^# TYPE qm_sweep_runs_total counter$/m);
    expect(text).toMatch(/^# TYPE qm_jobs_running gauge$/m);
    expect(text).toMatch(/^# HELP qm_vector_\w+ ./m);
    expect(text).not.toContain('qm_live_');
  });
});

/** Samples that do not stand right below the help and the type of their family. */
function unexplained(text: string): string[] {
  const told = new Set<string>();
  let family = '';
  const found: string[] = [];
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, kind, name = ''] = /^# (HELP|TYPE) (\S+) ./.exec(line) ?? [];
    const sample = /^[a-z_0-9]+/i.exec(line)?.[0] ?? '';
    if (kind === 'HELP' && told.has(name)) found.push(`${name} again`);
    if (kind === 'HELP') told.add(name);
    else if (kind === 'TYPE') family = told.has(name) ? name : '';
    else if (family === '' || (sample.replace(/_(bucket|sum|count)$/, '') !== family && sample !== family))
      found.push(line);
  }
  return found;
}
