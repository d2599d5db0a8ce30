// Programs that know nothing of the vault, unchanged under `qm run`: the service as a process, a TLS target that wants a token, real clients.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createPort } from 'node:net';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { loadServerSecret } from '../../src/core/secrets/server-secret.ts';
import { Database } from '../../src/db/database.ts';
import { type Connection, readConnection } from '../../src/db/embedded/index.ts';
import type { Services } from '../../src/kit/services.ts';
import { CertificateAuthority } from '../../src/modules/vault/proxy/ca.ts';
import { createPlace, type Place, PROJECT, startProcess } from '../support/process.ts';
import { createQmHome, type QmHome } from '../support/qm.ts';
import { type Client, client, createTestAccount } from '../support/service.ts';
import { TOKEN } from './harness.ts';

const HOST = '127.77.0.1';
const folder = mkdtempSync(join(tmpdir(), 'quartermaster-run-'));
let place: Place;
let home: QmHome;
let target: Server;
let call: Client;
let host: string;
const asked: string[] = [];

beforeAll(async () => {
  const authority = new CertificateAuthority(new Secrets('the CA of the outside world of these tests'));
  writeFileSync(join(folder, 'world.pem'), authority.pem);
  const repository = makeRepository();
  target = startTarget(authority, repository);
  await new Promise<void>((resolve) => target.listen(0, HOST, resolve));
  host = `${HOST}:${(target.address() as AddressInfo).port}`;
  place = await createPlace({
    ALLOW_PRIVATE_SOURCES: '127.77.0.0/16',
    VAULT_PORT: String(await freePort()),
    NODE_EXTRA_CA_CERTS: join(folder, 'world.pem'),
  });
  await startProcess(place);
  const db = new Database({
    connection: readConnection(place.dataDir) as Connection,
    connections: 2,
    hotConnections: 1,
  });
  const core = { db, secrets: new Secrets(await loadServerSecret({ dataDir: place.dataDir })) } as unknown as Services;
  const account = await createTestAccount(core, 1);
  await db.end();
  call = client(place.url, account.secret);
  const set = { connection: 'forge', kind: 'basic', secret: { username: 'git', password: TOKEN }, hosts: [host] };
  expect((await call('PUT', '/v1/vault/connection/set', set)).status).toBe(200);
  home = createQmHome({ QM_URL: place.url, QM_KEY: account.secret, TMPDIR: folder, GIT_TERMINAL_PROMPT: '0' });
});
afterAll(async () => {
  target?.closeAllConnections();
  await home?.remove();
  await place?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** A bare repository as files, which the old protocol of git reads. */
function makeRepository(): string {
  const [work, bare] = [join(folder, 'work'), join(folder, 'private.git')];
  mkdirSync(work);
  writeFileSync(join(work, 'README'), 'private\n');
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { cwd, stdio: 'pipe' });
  git(work, 'init', '-q', '-b', 'main');
  git(work, 'add', '.');
  git(work, 'commit', '-qm', 'first');
  git(folder, 'clone', '-q', '--bare', work, bare);
  git(bare, 'update-server-info');
  return bare;
}

function startTarget(authority: CertificateAuthority, repository: string): Server {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const [from, until] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 86_400_000)];
  const cert = authority.issueLeaf(HOST, publicKey.export({ type: 'spki', format: 'der' }), { from, until });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const wanted = `Basic ${Buffer.from(`git:${TOKEN}`).toString('base64')}`;
  return createServer({ cert, key }, (request, response) => {
    const path = new URL(request.url ?? '/', 'https://x').pathname;
    if (request.headers.authorization !== wanted) return void response.writeHead(401).end('who are you');
    asked.push(`${request.method} ${path}`);
    if (path === '/v1/customers') return void response.end('{"id":"cus_1","object":"customer"}');
    if (path === '/repos/acme/shop/issues')
      return void response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify([{ number: 7, title: 'It works' }]));
    const file = normalize(join(repository, path.replace(/^\/private\.git/, '')));
    if (!path.startsWith('/private.git/'))
      return void response.end(`hello ${request.headers['user-agent']?.split('/')[0]}, ${TOKEN}`);
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return void response.writeHead(404).end();
    response.end(readFileSync(file));
  });
}

async function freePort(): Promise<number> {
  const server = createPort();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const FETCH = 'fetch(process.argv[1]).then((answer) => answer.text()).then(console.log)';
const URLLIB = 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())';
/** Their own agents, and the fetch of Node.js. */
const STRIPE = `import Stripe from '${import.meta.resolve('stripe')}';
const { hostname: host, port } = new URL(process.argv[1]);
const stripe = new Stripe('sk_of_nobody', { host, port, maxNetworkRetries: 0 });
console.log((await stripe.customers.create({ name: 'Ada' })).id);`;
const OCTOKIT = `import { Octokit } from '${import.meta.resolve('@octokit/rest')}';
const octokit = new Octokit({ baseUrl: new URL(process.argv[1]).origin });
console.log((await octokit.rest.issues.listForRepo({ owner: 'acme', repo: 'shop' })).data[0].title);`;
const module = ['node', '--input-type=module', '-e'];

test.each([
  ['curl', ['curl', '-sS', 'URL'], 'hello curl, [secret]'],
  ['Node.js', ['node', '-e', FETCH, 'URL'], 'hello node, [secret]'],
  ['stripe-node', [...module, STRIPE, 'URL'], 'cus_1'],
  ['Octokit', [...module, OCTOKIT, 'URL'], 'It works'],
  ['Python', ['python3', '-c', URLLIB, 'URL'], 'hello Python-urllib, [secret]'],
])('%s', async (_, command, said) => {
  const words = command.map((word) =>
    word === 'URL' ? `https://${host}/hello` : word === 'node' ? process.execPath : word,
  );
  expect(await home.run(['run', '--', ...words])).toMatchObject({ code: 0, stdout: expect.stringContaining(said) });
});

test('git clones a private repository', async () => {
  const cloned = join(folder, 'cloned');
  const { code, stderr } = await home.run(['run', '--', 'git', 'clone', '-q', `https://${host}/private.git`, cloned]);
  expect([code, stderr]).toEqual([0, '']);
  expect(readFileSync(join(cloned, 'README'), 'utf8')).toBe('private\n');
  expect(readFileSync(join(cloned, '.git/config'), 'utf8')).not.toContain('qm_live');
});

test('the example runs unchanged', async () => {
  const program = join(PROJECT, 'examples/unchanged/issues.ts');
  const env = { GITHUB_API_URL: `https://${host}` };
  expect(await home.run(['run', '--', process.execPath, program, 'acme/shop'], env)).toMatchObject({
    code: 0,
    stdout: '#7 It works\n',
  });
});

test('a host of no connection is refused, and the log has what went out', async () => {
  const { code, stderr } = await home.run(['run', '--', 'curl', '-sS', 'https://other.example/']);
  expect([code === 0, stderr]).toEqual([false, expect.stringContaining('403')]);
  const { items } = (await call('GET', '/v1/vault/calls?connection=forge&outcome=answered')).body.data;
  expect(items).toEqual(
    expect.arrayContaining([expect.objectContaining({ method: 'GET', host: HOST, path: '/hello', status: 200 })]),
  );
  const spent = 1 - (await call('GET', '/v1/account/balance')).body.data.balance_usd;
  const { items: all } = (await call('GET', '/v1/vault/calls?limit=100')).body.data;
  expect(Math.round(spent / 0.00002)).toBe(all.length);
});
