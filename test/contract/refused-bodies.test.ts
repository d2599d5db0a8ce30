// Bodies of refused calls: nobody makes the service read megabytes that it does not want, and every client gets its answer.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

const MIB = 1024 * 1024;
let service: TestService;
/** By outcome, the headers that lead to it at /v1/queue/batch/publish. */
const callers: Record<string, string> = {};

beforeAll(async () => {
  service = await startTestService({ env: { RATE_LIMITS: 'on' } });
  const account = await createTestAccount(service.core);
  const narrow = await createTestAccount(service.core, 1, ['queue:read']);
  callers['401'] = 'Authorization: Bearer nonsense';
  callers['403'] = `Authorization: Bearer ${narrow.secret}`;
  callers['413'] = `Authorization: Bearer ${account.secret}`;
});
afterAll(() => service.stop());

interface Upload {
  readonly socket: Socket;
  readonly taken: () => number;
  readonly answer: () => string;
  readonly closed: () => boolean;
}

/** Writes as fast as the service takes it, until it closes or has taken `bytes`. */
async function upload(request: string, bytes: number): Promise<Upload> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  let taken = 0;
  let closed = false;
  socket.setEncoding('utf8').on('data', (chunk) => {
    answer += chunk;
  });
  socket
    .on('error', () => undefined)
    .on('close', () => {
      closed = true;
    });
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(request);
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  const write = () => {
    if (closed || taken >= bytes) return;
    socket.write(chunk, (error) => {
      if (error) return;
      taken += chunk.length;
      write();
    });
  };
  write();
  return { socket, taken: () => taken, answer: () => answer, closed: () => closed };
}

const head = (caller: string, ...headers: string[]) =>
  ['POST /v1/queue/batch/publish HTTP/1.1', 'Host: here', caller, ...headers, '', ''].join('\r\n');

const FOR_LONG = { timeout: 50_000, interval: 10 };

describe.each([
  ['401', 'Content-Length: 1000000000'],
  ['401', 'Transfer-Encoding: chunked'],
  ['403', 'Transfer-Encoding: chunked'],
  ['413', 'Content-Length: 1000000000'],
  ['413', 'Transfer-Encoding: chunked'],
])('a body without end, refused with %s (%s)', (status, length) => {
  test('is answered, and the connection closed before much of it is read', async () => {
    const sent = await upload(head(callers[status] as string, length), 200 * MIB);
    await vi.waitFor(() => expect(sent.closed()).toBe(true), FOR_LONG);
    expect(sent.answer()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(sent.answer().toLowerCase()).toContain('connection: close');
    expect(sent.answer()).toMatch(/"worker_id":.*\}\}$/);
    // What the kernels of both sides buffer is in it.
    expect(sent.taken()).toBeLessThan(32 * MIB);
  });
});

describe('a large body of a known length', () => {
  test.each(['401', '403'])(
    'refused with %s: a client that reads while it writes always gets the answer',
    async (status) => {
      const secret = (callers[status] as string).slice('Authorization: Bearer '.length);
      const call = client(service.url, secret);
      const payload = 'x'.repeat(3 * MIB);
      for (let i = 0; i < 10; i += 1) {
        const reply = await call('POST', '/v1/queue/batch/publish', { queue: 'jobs', items: [{ payload }] });
        expect(reply.status).toBe(Number(status));
      }
    },
  );

  test('a client that reads only after it wrote a quarter of a MiB gets it too', async () => {
    const body = 'x'.repeat(250 * 1024);
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname).pause();
    await new Promise((resolve) => socket.once('connect', resolve));
    const sent = new Promise((resolve) => {
      socket.write(head(callers['401'] as string, `Content-Length: ${body.length}`) + body, resolve);
    });
    await sent;
    // sleeps: the answer lies in the socket, which nothing tells before it is read
    await sleep(200);
    let answer = '';
    for await (const chunk of socket.setEncoding('utf8')) answer += chunk;
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
    expect(answer).toMatch(/\}\}$/);
  });
});

test('after a small refused body the connection goes on', async () => {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  let answers = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    answers += chunk;
  });
  for (let i = 1; i <= 3; i += 1) {
    socket.write(`${head(callers['403'] as string, 'Content-Length: 10000')}${'x'.repeat(10_000)}`);
    await vi.waitFor(() => expect(answers.split('HTTP/1.1 403')).toHaveLength(i + 1), FOR_LONG);
  }
  expect(answers.split('HTTP/1.1 403')).toHaveLength(4);
  socket.destroy();
});
