// Each client of another service, unchanged, as its example has it: only what runs here is called compatible.
import { execFile, spawnSync } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../s3/harness.ts';
import { startAcmeCa } from '../support/acme-ca.ts';
import { createPlace, type Place, PROJECT, startProcess } from '../support/process.ts';
import { printedByPythons } from '../support/pythons.ts';
import { type Client, client } from '../support/service.ts';
import { exampleSite, SITE_NETWORK } from '../support/site.ts';

const FOLDER = join(PROJECT, 'examples/clients');
const LINES_MAX = 30;
let place: Place;
let s3Port: number;
let dnsPort: number;
let call: Client;
beforeAll(async () => {
  [s3Port, dnsPort] = [await freePort(), await freePort()];
  place = await createPlace({
    S3_PORT: String(s3Port),
    DNS_PORT: String(dnsPort),
    DNS_RESOLVERS: `127.0.0.1:${dnsPort}`,
    ALLOW_PRIVATE_SOURCES: SITE_NETWORK,
  });
  await startProcess(place);
  call = client(place.url, place.operatorKey());
});
afterAll(() => place?.remove());

async function run(
  program: string,
  { with: interpreter = process.execPath, ...env }: Record<string, string> = {},
  ...args: readonly string[]
) {
  const all = { PATH: process.env.PATH ?? '', QM_URL: place.url, QM_KEY: place.operatorKey(), ...env };
  return (await promisify(execFile)(interpreter, [join(FOLDER, program), ...args], { env: all, cwd: PROJECT })).stdout;
}

/** Available and in flight. */
async function left(queue: string): Promise<number> {
  return (await call('GET', `/v1/queue/stats/${queue}`)).body.data.message_count;
}

test('each is one file that is read at a glance, and README names it', () => {
  const readme = readFileSync(join(PROJECT, 'examples/README.md'), 'utf8');
  for (const file of readdirSync(FOLDER)) {
    expect(readFileSync(join(FOLDER, file), 'utf8').trimEnd().split('\n').length, file).toBeLessThanOrEqual(LINES_MAX);
    expect(readme).toContain(`(clients/${file})`);
  }
});

test("Pusher's client gets what its server library publishes", async () => {
  expect(await run('pusher.ts')).toBe('order 17\n');
});

test("OpenAI's client streams an answer", async () => {
  expect(await run('openai.ts')).toBe('[sandbox] You said: Which queue is full?\n');
});

test("Anthropic's client streams a message", async () => {
  expect(await run('anthropic.ts')).toBe('[sandbox] You said: Which queue is full?\n');
});

test("Resend's client sends a mail once, however often it is asked for", async () => {
  expect(await run('resend.ts')).toBe('Invoice 7 sent once\n');
});

test("OpenAI's client saves an image of words", async () => {
  const file = join(tmpdir(), `qm-boat-${process.pid}.png`);
  const { stdout } = await promisify(execFile)(process.execPath, [join(FOLDER, 'openai-images.ts'), file], {
    env: { PATH: process.env.PATH ?? '', QM_URL: place.url, QM_KEY: place.operatorKey() },
  });
  expect(stdout).toBe(`saved ${file}\n`);
  expect(readFileSync(file).subarray(1, 4).toString()).toBe('PNG');
  rmSync(file);
});

test('a client of MCP finds a capability and calls it', async () => {
  expect(await run('mcp.ts')).toMatch(/^queue\.create \{.*"name":"by-mcp"/);
  expect((await call('GET', '/v1/queue/get/by-mcp')).status).toBe(200);
});

test("Sentry's SDK reports an error", async () => {
  expect(await run('sentry.ts')).toBe('reported\n');
  await expect
    .poll(async () =>
      (await call('GET', '/v1/errors/groups')).body.data.items.map((group: { title: string }) => group.title),
    )
    .toEqual([expect.stringContaining('the cart is empty')]);
});

test("Gotenberg's client makes two PDFs and merges them", async () => {
  expect(await run('chromiumly.ts')).toBe('%PDF- merged\n');
});

test("Amazon's client of SQS sends, receives and deletes", async () => {
  expect(await run('sqs.ts')).toBe('received {"order":17}\n');
  expect(await left('bysqs')).toBe(0);
});

test('sqs-consumer works off a queue that was filled natively', async () => {
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  const items = [{ payload: { n: 1 } }, { payload: { last: true } }];
  await call('POST', '/v1/queue/batch/publish', { queue: 'jobs', items });
  expect(await run('sqs-consumer.ts')).toBe('done {"n":1}\ndone {"last":true}\n');
  await expect.poll(() => left('jobs')).toBe(0);
});

const python = printedByPythons('import boto3').find(({ printed }) => printed !== null)?.python;
test.skipIf(python === undefined)(
  `boto3 sends, receives and deletes${python === undefined ? ' (skipped: no python3 here has boto3)' : ''}`,
  async () => {
    expect(await run('sqs_boto3.py', { with: python as string })).toBe('received any text\n');
    expect(await left('byboto3')).toBe(0);
  },
);

const NOTES = 'notes/today.txt 17\nWater the plants.\n';

test("Amazon's client of S3 makes a bucket, puts, lists and gets", async () => {
  expect(await run('s3.ts')).toBe(NOTES);
  expect((await call('GET', '/v1/storage/bucket/get/by-sdk')).body.data).toMatchObject({ object_count: 1, bytes: 17 });
});

test.skipIf(python === undefined)(
  `boto3 makes a bucket, puts, lists and gets${python === undefined ? ' (skipped: no python3 here has boto3)' : ''}`,
  async () => {
    expect(await run('s3_boto3.py', { with: python as string })).toBe(NOTES);
  },
);

const isHere = (program: string) => spawnSync('which', [program]).status === 0;
const note = (program: string) => (isHere(program) ? '' : ` (skipped: ${program} is not installed)`);

test.skipIf(!isHere('rclone'))(`rclone copies a folder and checks it${note('rclone')}`, async () => {
  const env = { with: 'sh', HOME: place.dataDir, RCLONE_CONFIG: '/dev/null' };
  expect(await run('s3_rclone.sh', env, FOLDER, 'by-rclone')).toBe(`copied ${FOLDER} to by-rclone\n`);
  const { data } = (await call('GET', '/v1/storage/bucket/get/by-rclone')).body;
  expect(data.object_count).toBe(readdirSync(FOLDER).length);
});

test.skipIf(!isHere('restic'))(`restic backs a folder up and checks it${note('restic')}`, async () => {
  const env = { with: 'sh', HOME: place.dataDir, RESTIC_PASSWORD: 'of tests', S3_URL: `http://127.0.0.1:${s3Port}` };
  expect(await run('s3_restic.sh', env, FOLDER, 'by-restic')).toContain('no errors were found');
});

test.each([
  ['otel-logs.ts', 'warn stock is low\n', 'stock is low'],
  ['pino-loki.ts', 'logged\n', 'order shipped'],
  ['winston-loki.ts', 'sent\n', 'stock is low'],
])('%s sends logs', async (program, printed, message) => {
  expect(await run(program)).toBe(printed);
  await expect
    .poll(async () => (await call('GET', '/v1/logs/search?service=shop&limit=1')).body.data.items[0]?.message)
    .toBe(message);
});

test('otel-metrics.ts sends a counter and asks for it', async () => {
  expect(await run('otel-metrics.ts')).toBe('shop 3\n');
});

test('altcha.ts: a solution counts once', async () => {
  expect(await run('altcha.ts')).toBe('true \nfalse timeout-or-duplicate\n');
});

test('openfeature.ts asks for a flag by its OFREP provider', async () => {
  expect(await run('openfeature.ts')).toBe('Hello! TARGETING_MATCH\nHi. DEFAULT\n');
});

test('posthog.ts captures an event and joins two names of a person', async () => {
  expect(await run('posthog.ts')).toBe('browser-4f1c user-17\n');
});

test("Firecrawl's client reads a page and its site", async () => {
  const { url } = await exampleSite();
  expect(await run('firecrawl.ts', {}, `${url}/keys`)).toMatch(/^Keys: \d{3} characters\ncompleted: Keys, Limits\n$/);
});

test.skipIf(!isHere('kdig'))(`kdig gets the record that the API has set${note('kdig')}`, async () => {
  const env = { with: 'sh', HOME: place.dataDir, DNS_PORT: String(dnsPort) };
  expect(await run('dns_kdig.sh', env, 'kdig.test')).toBe('192.0.2.1\n');
});

test.skipIf(!isHere('lego'))(`lego gets a certificate${note('lego')}`, async () => {
  const ca = await startAcmeCa(`127.0.0.1:${dnsPort}`);
  try {
    await call('POST', '/v1/dns/zone/create', { zone: 'lego.test' });
    const resolver = new Resolver();
    resolver.setServers([`127.0.0.1:${dnsPort}`]);
    // A new zone is answered for within a second.
    await expect
      .poll(() =>
        resolver.resolveSoa('lego.test').then(
          ({ minttl }) => minttl,
          () => null,
        ),
      )
      .toBe(300);
    const here = ['--server', ca.directory, '--path', join(place.dataDir, 'lego'), '--dns.disable-cp'];
    const env = { with: 'sh', HOME: place.dataDir };
    await run('dns_lego.sh', env, 'lego.test', 'ada@lego.test', ...here, '--dns.resolvers', `127.0.0.1:${dnsPort}`);
    expect(ca.proved.map(([name]) => name).sort()).toEqual(['*.lego.test', 'lego.test']);
  } finally {
    await ca.stop();
  }
});
