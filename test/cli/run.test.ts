// `qm run`: the real command against a service that answers as one with a proxy does, and programs that it runs.
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createQmHome, type QmHome } from '../support/qm.ts';

const CA = '-----BEGIN CERTIFICATE-----\nours\n-----END CERTIFICATE-----\n';
const KEY = 'qm_a+key/with=signs';

/** What is answered below a path; null: there is no proxy. */
const PROXIES: Readonly<Record<string, string | null>> = {
  '/here': 'http://127.0.0.1:7443',
  '/none': null,
  '/far': 'http://qm.example.org:7443',
};

let service: Server;
let origin: string;
let home: QmHome;
const authorizations: (string | undefined)[] = [];
beforeAll(async () => {
  service = createServer((req, res) => {
    const [, under = '', path] = /^(\/\w+)(\/.*)$/.exec(req.url ?? '') ?? [];
    const proxyUrl = path === '/v1/vault/proxy' ? (PROXIES[under] ?? null) : null;
    authorizations.push(req.headers.authorization);
    res.setHeader('content-type', 'application/json');
    if (proxyUrl === null) {
      res.statusCode = 404;
      res.end(JSON.stringify({ ok: false, error: { code: 'NOT_FOUND', message: 'There is no proxy.' } }));
    } else res.end(JSON.stringify({ ok: true, data: { proxy_url: proxyUrl, ca_pem: CA, hosts: ['api.example.org'] } }));
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  home = createQmHome({ QM_URL: `${origin}/here`, QM_KEY: KEY });
});
afterAll(async () => {
  await home?.remove();
  service?.close();
});

/** A folder for temporary files. */
const temporaryFolder = () => mkdtempSync(join(home.path, 'temporary-'));

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  home.run(['run', ...args], { TMPDIR: temporaryFolder(), ...env });
/** Runs it in Node, and answers what it says. */
const runScript = (script: string, env: Record<string, string> = {}) =>
  run(['--', process.execPath, '-e', script], env);

const TELL = `
const { readFileSync, statSync } = require('node:fs');
const bundle = readFileSync(process.env.SSL_CERT_FILE, 'utf8');
console.log(JSON.stringify({
  env: process.env,
  added: readFileSync(process.env.NODE_EXTRA_CA_CERTS, 'utf8'),
  bundle: { count: bundle.split('BEGIN CERTIFICATE').length - 1, end: bundle.slice(-80) },
  modes: [process.env.SSL_CERT_FILE, process.env.NODE_EXTRA_CA_CERTS].map((file) => statSync(file).mode & 0o777),
}));`;

test.concurrent('the command gets the proxy with the key, and files of certificates that go with it', async () => {
  const { code, stdout, stderr } = await runScript(TELL);
  expect(code).toBe(0);
  expect(authorizations).toContain(`Bearer ${KEY}`);
  // Node itself says that the certificate of this test is none.
  expect(stderr).not.toContain('qm:');
  const { env, added, bundle, modes } = JSON.parse(stdout);
  const address = 'http://qm:qm_a%2Bkey%2Fwith%3Dsigns@127.0.0.1:7443';
  expect(env).toMatchObject({ HTTPS_PROXY: address, https_proxy: address, HTTP_PROXY: address, http_proxy: address });
  expect(env).toMatchObject({ NO_PROXY: 'localhost,127.0.0.1', NODE_USE_ENV_PROXY: '1', HOME: home.path });
  const files = [env.REQUESTS_CA_BUNDLE, env.CURL_CA_BUNDLE, env.GIT_SSL_CAINFO, env.AWS_CA_BUNDLE];
  expect(new Set(files)).toEqual(new Set([env.SSL_CERT_FILE]));
  expect(added).toBe(CA);
  expect(bundle.end).toContain(CA);
  expect(bundle.count).toBeGreaterThan(50);
  expect(modes).toEqual([0o600, 0o600]);
  expect(existsSync(env.SSL_CERT_FILE)).toBe(false);
  expect(readdirSync(env.TMPDIR)).toEqual([]);
});

test.concurrent('what the caller has set of NO_PROXY and certificates stays', async () => {
  const [extra, chosen] = ['extra.pem', 'chosen.pem'].map((name) => join(home.path, name));
  writeFileSync(extra as string, 'extra\n');
  writeFileSync(chosen as string, 'BEGIN CERTIFICATE chosen\n');
  const own = {
    NO_PROXY: 'inside.example.org',
    NODE_EXTRA_CA_CERTS: extra as string,
    CURL_CA_BUNDLE: chosen as string,
  };
  const { env, added, bundle } = JSON.parse((await runScript(TELL, own)).stdout);
  expect(env).toMatchObject({ NO_PROXY: 'inside.example.org', no_proxy: 'inside.example.org' });
  expect(added).toBe(`extra\n\n${CA}`);
  expect(bundle.count).toBe(2);
});

test.concurrent('options after the command are its own, also without --', async () => {
  const { code, stdout } = await run([process.execPath, '-p', '"--help"']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '--help\n' });
});

test.concurrent.each([
  ['its own', 'process.exit(7)', 7],
  ['128 and the number of its signal', 'process.kill(process.pid, "SIGKILL")', 137],
])('the exit code is %s', async (_what, script, code) => {
  const TMPDIR = temporaryFolder();
  expect((await runScript(script, { TMPDIR })).code).toBe(code);
  expect(readdirSync(TMPDIR)).toEqual([]);
});

test.concurrent('signals go to the command, whose end is the end', async () => {
  const script = 'process.on("SIGTERM", () => process.exit(5)); console.log("up"); setInterval(() => {}, 1000)';
  const TMPDIR = temporaryFolder();
  const started = home.start(['run', '--', process.execPath, '-e', script], { TMPDIR });
  await expect.poll(started.stdout, { interval: 10 }).toBe('up\n');
  started.child.kill('SIGTERM');
  expect(await started.ended).toMatchObject({ code: 5 });
  expect(readdirSync(TMPDIR)).toEqual([]);
});

test.concurrent('a command that is none: 127, and one that cannot be run: 126', async () => {
  expect(await run(['--', 'no-such-command'])).toEqual({
    code: 127,
    stdout: '',
    stderr: 'qm: "no-such-command" cannot be run: there is no such command.\n',
  });
  writeFileSync(join(home.path, 'data.txt'), 'no program');
  expect(await run(['--', './data.txt'])).toMatchObject({ code: 126 });
});

test.concurrent('a service without a proxy, and one whose proxy would get the key without TLS, are told in a sentence', async () => {
  expect(await runScript('console.log("ran")', { QM_URL: `${origin}/none` })).toEqual({
    code: 1,
    stdout: '',
    stderr: `qm: ${origin}/none has no proxy: its operator sets VAULT_PORT to open one.\n`,
  });
  const far = { QM_URL: `${origin}/far` };
  expect(await runScript('console.log("ran")', far)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('without TLS'),
  });
  const plain = await run(['--plain-proxy', '--', process.execPath, '-p', 'process.env.HTTPS_PROXY'], far);
  expect(plain).toMatchObject({ code: 0, stdout: expect.stringContaining('@qm.example.org:7443') });
});
