// With several processes each ends TLS itself: calls by both protocols, an https address, the redirect, and a wrong setting told in one line.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { selfSigned } from '../outbound/certificate.ts';
import { createPlace, freePort, launch, type Place, until } from '../support/process.ts';
import { allowedMs } from '../support/slowness.ts';
import { ask, h2 } from './h2.ts';

const folder = mkdtempSync(join(tmpdir(), 'quartermaster-tls-'));
const env = { TLS_CERT: join(folder, 'cert.pem'), TLS_KEY: join(folder, 'key.pem') };
const { cert, key } = selfSigned(['localhost'], ['127.0.0.1']);
let place: Place;
const agent = new Agent({ connect: { ca: cert } });

beforeAll(async () => {
  writeFileSync(env.TLS_CERT, cert);
  writeFileSync(env.TLS_KEY, key);
  place = await createPlace();
});
afterAll(async () => {
  await agent.close();
  await place?.remove();
  rmSync(folder, { recursive: true });
});

async function status(url: string): Promise<number> {
  const { statusCode, body } = await request(url, { dispatcher: agent });
  await body.dump();
  return statusCode;
}

test.each([1, 2])('%d workers serve TLS, and stop with open sessions of HTTP/2', async (workers) => {
  const redirectPort = await freePort();
  const service = launch(place, { ...env, WORKERS: String(workers), TLS_REDIRECT_PORT: String(redirectPort) });
  const url = place.url.replace('http:', 'https:');
  await until(
    () =>
      status(`${url}/readyz`).then(
        (code) => code === 200,
        () => false,
      ),
    30_000,
  );
  const sessions = Array.from({ length: 8 }, () => h2(url, cert));
  const head = { ':method': 'GET', ':path': '/v1/account/tier', authorization: `Bearer ${place.operatorKey()}` };
  const answers = await Promise.all(sessions.flatMap((each) => [ask(each, head), ask(each, head)]));
  expect(new Set(answers.map((each) => each.status))).toEqual(new Set([200]));
  expect(await status(`http://127.0.0.1:${redirectPort}/`)).toBe(308);
  await until(() => service.stdout().includes(`answers at ${url}`));
  const begunMs = performance.now();
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(performance.now() - begunMs).toBeLessThan(allowedMs(9_000));
  for (const each of sessions) each.destroy();
});

test.each([
  [{ TLS_KEY: '' }, 78, 'TLS_CERT and TLS_KEY go together'],
  [{ TLS_KEY: join(folder, 'none.pem') }, 1, 'TLS_KEY cannot be read'],
  [{ TLS_KEY: join(folder, 'cert.pem') }, 1, 'not a certificate and its key'],
])('%o ends the start with %d', async (wrong, code, line) => {
  const service = launch(place, { ...env, ...wrong });
  expect(await service.exited).toMatchObject({ code });
  expect(service.stderr()).toContain(line);
});
