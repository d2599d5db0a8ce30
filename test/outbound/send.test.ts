// Requests of every method, with bodies that are streams, each within limits of its own; and hostile answers to them.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOutboundClient } from '../../src/vendors/http/client.ts';
import type { OutboundClient, OutboundReply, OutboundRequest } from '../../src/vendors/http/port.ts';
import { until } from '../support/process.ts';
import { listen, loopbackClient } from './receivers.ts';

const MIB = 1024 * 1024;
const LIMITS = { firstByteMs: 30_000, idleMs: 30_000, totalMs: 60_000, answerBytesMax: 64 * MIB };
/** For tests of these limits. */
const HASTY = { ...LIMITS, firstByteMs: 200, idleMs: 300, totalMs: 1_000 };

interface Origin {
  readonly url: string;
  readonly seen: {
    method?: string | undefined;
    path?: string | undefined;
    headers: IncomingMessage['headers'];
    body: Buffer;
  }[];
  close(): Promise<void>;
}

/** A real server that remembers what it was asked; `answer` says the rest. */
async function origin(answer: (req: IncomingMessage, res: ServerResponse) => void): Promise<Origin> {
  const seen: Origin['seen'] = [];
  const server = createServer(async (req, res) => {
    const body = await buffer(req).catch(() => Buffer.alloc(0));
    seen.push({ method: req.method, path: req.url, headers: req.headers, body });
    answer(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

let open: OutboundClient;
let guarded: OutboundClient;
beforeAll(() => {
  open = loopbackClient({ resolve: async () => ['127.0.0.1'] });
  guarded = createOutboundClient({ allowPrivateTargets: [], resolve: async () => ['127.0.0.1'] });
});
afterAll(() => Promise.all([open.close(), guarded.close()]));

function send(client: OutboundClient, request: Partial<OutboundRequest> & { url: string }): Promise<OutboundReply> {
  return client.send({ method: 'GET', limits: LIMITS, signal: new AbortController().signal, ...request });
}

function answered(reply: OutboundReply) {
  if (reply.kind !== 'answered') throw new Error(`${reply.code}: ${reply.message}`);
  return reply;
}

describe('methods and bodies', () => {
  test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)('%s goes out as it is', async (method) => {
    const there = await origin((_, res) => res.setHeader('x-made', 'there').end('made'));
    const body = method === 'GET' || method === 'HEAD' ? null : 'sent';
    const reply = answered(await send(open, { url: `${there.url}/a?b=c`, method, body, headers: { 'x-a': 'b' } }));
    expect([reply.status, reply.headers['x-made'], await text(reply.body)]).toEqual([
      200,
      'there',
      method === 'HEAD' ? '' : 'made',
    ]);
    expect(there.seen).toMatchObject([
      { method, path: '/a?b=c', headers: { 'x-a': 'b' }, body: Buffer.from(body ?? '') },
    ]);
    await there.close();
  });

  test('a stream goes up with its length and another comes down, byte for byte', async () => {
    const bytes = Buffer.alloc(20 * MIB, 'streams ');
    const there = await origin((_, res) => void Readable.from([bytes]).pipe(res));
    const source = Readable.from(
      (function* () {
        for (let at = 0; at < bytes.length; at += MIB) yield bytes.subarray(at, at + MIB);
      })(),
    );
    const reply = answered(await send(open, { url: there.url, method: 'PUT', body: source, bodyBytes: bytes.length }));
    const digest = createHash('sha256');
    for await (const chunk of reply.body) digest.update(chunk as Buffer);
    expect(digest.digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(there.seen[0]?.headers).toMatchObject({ 'content-length': String(bytes.length) });
    expect(there.seen[0]?.body.equals(bytes)).toBe(true);
    await there.close();
  });

  test('a form is multipart/form-data, small ones with their length', async () => {
    const there = await origin((_, res) => void res.end());
    const form = new FormData();
    form.set('model', 'a "model"');
    form.set('file', new Blob([Buffer.from([0, 255, 10])], { type: 'image/png' }), 'im"age.png');
    answered(await send(open, { url: there.url, method: 'POST', body: form })).body.resume();
    const { headers, body } = there.seen[0] as Origin['seen'][number];
    expect(headers['content-length']).toBe(String(body.length));
    const read = await new Response(new Uint8Array(body), {
      headers: { 'content-type': headers['content-type'] as string },
    }).formData();
    expect(read.get('model')).toBe('a "model"');
    expect(await (read.get('file') as File).bytes()).toEqual(new Uint8Array([0, 255, 10]));
    await there.close();
  });

  test('whoever does not read is not sent more than fits: the sender is held back', async () => {
    let written = 0;
    const there = await origin((_, res) => {
      const chunk = Buffer.alloc(MIB);
      const more = () => {
        for (let flows = true; flows && written < 200; written += 1) flows = res.write(chunk);
        if (written < 200) res.once('drain', more);
        else res.end();
      };
      more();
    });
    const reply = answered(
      await send(open, { url: there.url, limits: { ...LIMITS, idleMs: 300, answerBytesMax: 400 * MIB } }),
    );
    // Longer than it may be silent: that is the reader's doing, and ends nothing.
    // sleeps: a reader that pauses is told from one that is silent
    await sleep(2 * 300);
    expect(written).toBeLessThan(64);
    expect((await buffer(reply.body)).length).toBe(200 * MIB);
    await there.close();
  });
});

describe('limits', () => {
  test('an answer that does not begin, that stops, that never ends, that is too long', async () => {
    const chunk = Buffer.alloc(64 * 1024);
    const there = await origin((req, res) => {
      if (req.url === '/silent') return;
      res.write(chunk);
      if (req.url === '/drip') setInterval(() => res.write('.'), 50).unref();
      if (req.url === '/long')
        Readable.from(
          (function* () {
            while (true) yield chunk;
          })(),
        ).pipe(res);
    });
    const limits = { ...HASTY, answerBytesMax: MIB };
    expect(await send(open, { url: `${there.url}/silent`, limits })).toMatchObject({
      kind: 'failed',
      code: 'timeout',
      sent: true,
    });
    for (const [path, code] of [
      ['/stops', 'timeout'],
      ['/drip', 'timeout'],
      ['/long', 'protocol'],
    ] as const) {
      const { body } = answered(await send(open, { url: there.url + path, limits }));
      await expect(buffer(body)).rejects.toMatchObject({ code });
    }
    await there.close();
  });

  test('what is sent is bounded too, and a source that fails is no fault of the receiver', async () => {
    const there = await origin((_, res) => void res.end());
    const endless = Readable.from(
      (function* () {
        while (true) yield Buffer.alloc(MIB);
      })(),
    );
    const limits = { ...LIMITS, bodyBytesMax: 4 * MIB };
    expect(await send(open, { url: there.url, method: 'PUT', body: endless, limits })).toMatchObject({
      code: 'protocol',
      sent: true,
    });
    expect(endless.destroyed).toBe(true);
    const broken = new PassThrough();
    broken.write('x');
    setTimeout(() => broken.destroy(new Error('the disk is gone')), 50);
    expect(await send(open, { url: there.url, method: 'PUT', body: broken })).toMatchObject({
      code: 'aborted',
      sent: true,
    });
    await there.close();
  });

  test('an answer that is compressed unasked is not taken', async () => {
    const there = await origin((_, res) => res.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(MIB))));
    expect(await send(open, { url: there.url })).toMatchObject({ kind: 'failed', code: 'protocol', sent: true });
    await there.close();
  });

  test('the caller ends it at any time, before and within the answer', async () => {
    const there = await origin((_, res) => void res.write('x'));
    const early = new AbortController();
    early.abort();
    expect(await send(open, { url: there.url, signal: early.signal })).toMatchObject({ code: 'aborted', sent: false });
    const within = new AbortController();
    const { body } = answered(await send(open, { url: there.url, signal: within.signal }));
    within.abort();
    await expect(buffer(body)).rejects.toMatchObject({ code: 'aborted' });
    await there.close();
  });

  test('a body that nobody reads fails without ending the process, and its socket closes', async () => {
    const receiver = await listen({
      onRequest: (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx'),
    });
    const { body } = answered(
      await send(open, { url: `http://127.0.0.1:${receiver.port}/`, limits: { ...LIMITS, idleMs: 300 } }),
    );
    await until(() => body.destroyed && receiver.open === 0);
    await receiver.close();
  });
});

describe('whether anything was sent', () => {
  test('nothing, when there is no address, no connection or no leave; perhaps something once there is a connection', async () => {
    const gone = await listen({});
    await gone.close();
    const url = `http://127.0.0.1:${gone.port}/`;
    expect(await send(open, { url, method: 'POST', body: 'x' })).toMatchObject({ code: 'connect', sent: false });
    expect(await send(guarded, { url, method: 'POST', body: 'x' })).toMatchObject({ code: 'refused', sent: false });
    const resets = await listen({ onRequest: (socket) => socket.resetAndDestroy() });
    const there = `http://127.0.0.1:${resets.port}/`;
    expect(await send(open, { url: there, method: 'POST', body: 'x' })).toMatchObject({ code: 'reset', sent: true });
    await resets.close();
  });

  test('a request is never sent twice', async () => {
    const two = loopbackClient({ resolve: async () => ['127.0.0.1', '127.0.0.2'] });
    const resets = await listen({ host: '0.0.0.0', onRequest: (socket) => socket.destroy() });
    const url = `http://two.example.com:${resets.port}/`;
    expect(await send(two, { url, method: 'POST', body: 'x' })).toMatchObject({ kind: 'failed', sent: true });
    // sleeps: a second request would come by now.
    await sleep(100);
    expect(resets.connections).toBe(1);
    await Promise.all([two.close(), resets.close()]);
  });
});

describe('what the operator wrote, and what only an answer says', () => {
  test("an operator's address may be private; a user's beside it may not", async () => {
    const there = await origin((_, res) => void res.end('mine'));
    expect(await send(guarded, { url: there.url })).toMatchObject({ code: 'refused' });
    expect(await send(guarded, { url: there.url, operator: { origin: 'http://127.0.0.1:1' } })).toMatchObject({
      code: 'refused',
    });
    const operator = { origin: `${there.url}/v1` };
    expect(await text(answered(await send(guarded, { url: `${there.url}/v1/x`, operator })).body)).toBe('mine');
    await there.close();
  });

  test('redirects are followed when asked for, checked each, and credentials stay with their origin', async () => {
    const inside = await origin((_, res) => void res.end('inside'));
    const assets = await origin((_, res) => void res.end('asset'));
    const vendor = await origin((req, res) => {
      const to = {
        '/own': '/end',
        '/asset': `${assets.url}/video`,
        '/inside': `${inside.url}/secret`,
        '/loop': '/loop',
      }[req.url ?? ''];
      if (to === undefined) res.end('end');
      else res.writeHead(302, { location: to }).end();
    });
    const operator = { origin: vendor.url, assetHosts: [new URL(assets.url).host] };
    const credentials = { authorization: 'Bearer vendor-key' };
    const go = (path: string, more: Partial<OutboundRequest> = {}) =>
      send(guarded, { url: vendor.url + path, operator, credentials, redirectsMax: 3, ...more });
    expect(await text(answered(await go('/own')).body)).toBe('end');
    expect(vendor.seen.at(-1)).toMatchObject({ path: '/end', headers: credentials });
    const asset = answered(await go('/asset'));
    expect([asset.url, await text(asset.body)]).toEqual([`${assets.url}/video`, 'asset']);
    expect(assets.seen[0]?.headers.authorization).toBeUndefined();
    expect(await go('/inside')).toMatchObject({ kind: 'failed', code: 'refused' });
    expect(inside.seen).toEqual([]);
    for (const more of [{ redirectsMax: 0 }, { method: 'POST' as const }, {}]) {
      const reply = answered(await go('/loop', more));
      expect(reply.status).toBe(302);
      reply.body.resume();
    }
    expect(vendor.seen.filter(({ path }) => path === '/loop')).toHaveLength(1 + 1 + 4);
    await Promise.all([inside.close(), assets.close(), vendor.close()]);
  });
});
