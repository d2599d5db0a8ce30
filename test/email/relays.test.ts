// Relays that fail: what their mail becomes, and that it is nobody else's trouble.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SmtpSession } from '../../src/modules/email/vendors/smtp.ts';
import { freePort } from '../support/process.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { EmailBench } from './harness.ts';

let closedPort: number;
let second: TestRelay;
let bench: EmailBench;
beforeAll(async () => {
  closedPort = await freePort();
  second = await startRelay();
  const closed = await startRelay({
    authOptional: false,
    onAuth: (_auth, _session, done) => done(new Error('Invalid login')),
  });
  const file = join(await mkdtemp(join(tmpdir(), 'qm-relays-')), 'vendors.yaml');
  const entries = [
    `{ id: gone, adapter: smtp, url: 'smtp://127.0.0.1:${closedPort}', priority: 1 }`,
    `{ id: second, adapter: smtp, url: 'smtp://127.0.0.1:${second.port}', priority: 2 }`,
    `{ id: locked, adapter: smtp, url: "\${LOCKED_URL}", priority: 3 }`,
  ];
  await writeFile(file, `version: 1\nvendors:\n${entries.map((entry) => `  - ${entry}\n`).join('')}`);
  const env = { VENDORS_FILE: file, LOCKED_URL: `smtp://user:a%20secret@127.0.0.1:${closed.port}` };
  bench = await EmailBench.start({ relay: false, env });
  toStop.push(
    () => closed.stop(),
    () => second.stop(),
  );
});
const toStop: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  await bench.stop();
  for (const stop of toStop) await stop();
});

test('a relay that cannot be reached is passed over', async () => {
  expect(await bench.sent()).toMatchObject({ status: 'sent', vendor: 'second' });
});

test('whoever pins it is told, charged nothing, and may try again with the same key', async () => {
  const own = await bench.withAccount();
  const before = await own.balance();
  const headers = { 'idempotency-key': 'again' };
  const { status, body } = await own.send({ vendor: 'gone' }, headers);
  expect([status, body.error.code, body.error.retryable]).toEqual([502, 'EMAIL_SEND_FAILED', true]);
  expect(await own.balance()).toBe(before);
  const relay = await startRelay({ port: closedPort });
  toStop.push(() => relay.stop());
  // The breaker lets the next call through once its pause is over.
  await bench.service.advance(3_600);
  await expect.poll(async () => (await own.send({ vendor: 'gone' }, headers)).status).toBe(200);
  expect(relay.mails).toHaveLength(1);
});

test('a refused login is told without the password, and costs nothing', async () => {
  const own = await bench.withAccount();
  const { status, body, text } = await own.send({ vendor: 'locked' });
  expect([status, body.error.code]).toEqual([502, 'EMAIL_SEND_FAILED']);
  expect(text).not.toMatch(/secret/);
});

test('in the background mail waits for a relay that is away', async () => {
  const email = await bench.sent({ vendor: 'locked', wait: false });
  await expect.poll(async () => (await bench.get(email.email_id)).status).toBe('deferred');
});

test('a relay that the file does not name is refused, naming those there are', async () => {
  const { status, body } = await bench.send({ vendor: 'nobody' });
  expect([status, body.error.code, body.error.param]).toEqual([400, 'VENDOR_NOT_AVAILABLE', 'vendor']);
  expect(body.error.message).toContain('gone, second, locked, outbox');
});

test('the books agree', () => bench.expectBooksAgree());

/** A server that is spoken to byte by byte. */
async function rawServer(talk: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    talk(socket);
  });
  await new Promise<void>((listening) => server.listen(0, '0.0.0.0', listening));
  toStop.push(async () => server.close());
  return (server.address() as { port: number }).port;
}

test('a relay that says a byte at a time ends with the time of the attempt', async () => {
  const port = await rawServer((socket) => {
    const drip = setInterval(() => socket.write('2'), 20);
    socket.on('close', () => clearInterval(drip));
  });
  const session = new SmtpSession({ url: `smtp://127.0.0.1:${port}`, name: 'test' });
  expect(await session.open(AbortSignal.timeout(300))).toMatchObject({ kind: 'unreached', cause: 'timeout' });
  expect(session.isOver).toBe(true);
});

test('a relay elsewhere that does not offer TLS, or whose offer somebody has taken out, gets no login and no mail', async () => {
  const heard: string[] = [];
  const port = await rawServer((socket) => {
    socket.write('220 stripped\r\n');
    socket.on('data', (chunk) => {
      heard.push(String(chunk).trim());
      socket.write(/^EHLO/.test(String(chunk)) ? '250-stripped\r\n250 AUTH PLAIN\r\n' : '454 TLS not available\r\n');
    });
  });
  // Reaches this machine, and is not written as its own.
  const session = new SmtpSession({ url: `smtp://user:secret@0.0.0.0:${port}`, name: 'test' });
  expect(await session.open(AbortSignal.timeout(5_000))).toMatchObject({ kind: 'unreached' });
  expect(heard.join('\n')).not.toMatch(/AUTH|MAIL/);
});

test('a reply of megabytes ends the session', async () => {
  const port = await rawServer((socket) => void socket.write(`220-${'x'.repeat(1_000_000)}`));
  const session = new SmtpSession({ url: `smtp://127.0.0.1:${port}`, name: 'test' });
  expect(await session.open(AbortSignal.timeout(5_000))).toMatchObject({ kind: 'unreached' });
});
