// Kannel, Debian's SMS gateway, as another client of the same carrier: what our session sends is the same on the wire.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pdu } from 'smpp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../cron/harness.ts';
import { PERSON, SECRET, SmsBench } from './harness.ts';
import { entryOf, SmppDouble } from './smpp-double.ts';

const BEARERBOX = '/usr/sbin/bearerbox';
const SMSBOX = '/usr/sbin/smsbox';
const isInstalled = existsSync(BEARERBOX) && existsSync(SMSBOX);
const name = isInstalled ? 'kannel' : 'kannel (skipped: apt-get install kannel)';

let folder: string;
let carrier: SmppDouble;
let bench: Awaited<ReturnType<typeof SmsBench.start>>;
const started: ChildProcess[] = [];
let sendPort: number;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

beforeAll(async () => {
  if (!isInstalled) return;
  folder = await mkdtemp(join(tmpdir(), 'qm-kannel-'));
  carrier = await SmppDouble.open();
  bench = await SmsBench.start({ vendors: [entryOf(carrier)] });
  const [admin, box] = [await freePort(), await freePort()];
  sendPort = await freePort();
  const config = `group = core
admin-port = ${admin}
admin-password = test
smsbox-port = ${box}
box-allow-ip = 127.0.0.1
log-level = 1

group = smsc
smsc = smpp
host = 127.0.0.1
port = ${carrier.port}
transceiver-mode = true
smsc-username = kannel
smsc-password = ${SECRET}
system-type = ""
interface-version = 34

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = ${sendPort}
global-sender = 12345

group = sendsms-user
username = test
password = test
concatenation = true
max-messages = 5

group = sms-service
keyword = default
text = none
max-messages = 0
`;
  await writeFile(join(folder, 'kannel.conf'), config);
  const run = (program: string) =>
    started.push(spawn(program, [join(folder, 'kannel.conf')], { cwd: folder, stdio: 'ignore' }));
  run(BEARERBOX);
  await eventually(async () => carrier.binds.some(({ system_id }) => system_id === 'kannel'), 20_000);
  run(SMSBOX);
});
afterAll(async () => {
  if (!isInstalled) return;
  for (const child of started) child.kill('SIGKILL');
  await bench.stop();
  await carrier.close();
  await rm(folder, { recursive: true, force: true });
});

const textOf = ({ short_message: short }: Pdu) => short?.message;
const partOf = ({ short_message: short }: Pdu) => [...(short?.udh?.[0] ?? [])].filter((_, i) => i !== 2);

test.skipIf(!isInstalled)(`${name} cuts, encodes and addresses a long text as this service does`, async () => {
  const text = 'Ünïcode is not needed: [a] {b} € '.replace('ï', 'i').repeat(8).trim();
  const query = new URLSearchParams({
    username: 'test',
    password: 'test',
    to: PERSON,
    text,
    charset: 'UTF-8',
    from: '12345',
  });
  await eventually(async () => {
    const reply = await fetch(`http://127.0.0.1:${sendPort}/cgi-bin/sendsms?${query}`).catch(() => null);
    return reply?.status === 202;
  });
  await eventually(async () => carrier.submits.length >= 2, 20_000);
  const theirs = carrier.submits.splice(0);
  await bench.send({ text, from: '12345' });
  const ours = carrier.submits.splice(0);
  expect(ours.map(textOf).join('')).toBe(text);
  expect(theirs.map(textOf).join('')).toBe(text);
  expect(ours.length).toBe(theirs.length);
  expect(ours.map(partOf)).toEqual(theirs.map(partOf));
  expect(new Set([...ours, ...theirs].map(({ data_coding }) => data_coding))).toEqual(new Set([0]));
});
