// Sockets are kept for reuse, for exactly the address that was checked, in bounded number and for seconds only.
import { afterEach, describe, expect, test } from 'vitest';
import type { OutboundClient } from '../../src/vendors/http/port.ts';
import { listen, loopbackClient, OK, postTo, type Receiver } from './receivers.ts';

const closing: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of closing.splice(0)) await one.close();
});

async function answering(host: string, port?: number): Promise<Receiver> {
  const receiver = await listen({ host, port, onRequest: (socket) => void socket.write(OK) });
  closing.push(receiver);
  return receiver;
}

function client(options: Parameters<typeof loopbackClient>[0] = {}): OutboundClient {
  const made = loopbackClient(options);
  closing.unshift(made);
  return made;
}

describe('reuse', () => {
  // undici gives a socket back one turn of the event loop after the answer's end, so whoever asks at once takes a second one.
  test('deliveries one after the other to one receiver share their connections', async () => {
    const receiver = await answering('127.0.0.1');
    const outbound = client();
    for (let i = 0; i < 20; i += 1) await postTo(outbound, `http://127.0.0.1:${receiver.port}/${i}`);
    expect(receiver.connections).toBeLessThanOrEqual(2);
  });

  test('200 deliveries by 10 at a time take 20 connections at most', async () => {
    const receiver = await answering('127.0.0.1');
    const outbound = client();
    const worker = async () => {
      for (let i = 0; i < 20; i += 1) {
        expect(await postTo(outbound, `http://127.0.0.1:${receiver.port}/`)).toMatchObject({ status: 200 });
      }
    };
    await Promise.all(Array.from({ length: 10 }, worker));
    expect(receiver.connections).toBeLessThanOrEqual(20);
  });

  test('a kept socket serves the address that was checked for this request, and no other', async () => {
    const one = await answering('127.0.0.1');
    const two = await answering('127.0.0.2', one.port);
    let address = '127.0.0.1';
    const outbound = client({ resolve: async () => [address] });
    const url = `http://moving.example.com:${one.port}/`;
    await postTo(outbound, url);
    address = '127.0.0.2';
    await postTo(outbound, url);
    address = '127.0.0.1';
    await postTo(outbound, url);
    const requests = (receiver: Receiver) => receiver.text.match(/POST \//g)?.length;
    expect([one, two].map((receiver) => [receiver.connections, requests(receiver)])).toEqual([
      [1, 2],
      [1, 1],
    ]);
  });

  test('a receiver that closes while its socket is kept gets a new one next time', async () => {
    const receiver = await listen({ onRequest: (socket) => void socket.end(OK) });
    closing.push(receiver);
    const outbound = client();
    for (let i = 0; i < 5; i += 1) {
      expect(await postTo(outbound, `http://127.0.0.1:${receiver.port}/`)).toMatchObject({ status: 200 });
    }
    expect(receiver.connections).toBe(5);
  });
});

test('when the first address of a host does not answer, the next one is tried within the same time', async () => {
  const receiver = await answering('127.0.0.2');
  const outbound = client({ resolve: async () => ['127.0.0.1', '127.0.0.2'] });
  const outcome = await postTo(outbound, `http://two.example.com:${receiver.port}/`);
  expect(outcome).toMatchObject({ kind: 'answered', status: 200 });
});

test('a request that was sent is not sent to another address', async () => {
  const one = await listen({ host: '127.0.0.1', onRequest: (socket) => void socket.end() });
  closing.push(one);
  const two = await answering('127.0.0.2', one.port);
  const outbound = client({ resolve: async () => ['127.0.0.1', '127.0.0.2'] });
  const outcome = await postTo(outbound, `http://two.example.com:${one.port}/`);
  expect(outcome).toMatchObject({ kind: 'failed', code: 'reset' });
  expect([one.connections, two.connections]).toEqual([1, 0]);
});

describe('bounds', () => {
  async function visitMany(outbound: OutboundClient, port: number): Promise<void> {
    const address = (i: number) => `127.0.${1 + Math.floor(i / 200)}.${1 + (i % 200)}`;
    const visit = async (from: number) => {
      for (let i = from; i < 1_000; i += 20) {
        expect(await postTo(outbound, `http://${address(i)}:${port}/`)).toMatchObject({ status: 200 });
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, worker) => visit(worker)));
  }

  test('1,000 receivers leave no more sockets behind than is allowed, long before they are idle enough', async () => {
    const receiver = await answering('0.0.0.0');
    await visitMany(client({ limits: { idleMs: 30_000, idlePoolsMax: 32 } }), receiver.port);
    expect(receiver.connections).toBe(1_000);
    await expect.poll(() => receiver.open).toBeLessThanOrEqual(32);
    expect(receiver.open).toBeGreaterThan(0);
  });

  test('idle sockets are gone after the time they may live', async () => {
    const receiver = await answering('0.0.0.0');
    await visitMany(client({ limits: { idleMs: 300 } }), receiver.port);
    await expect.poll(() => receiver.open).toBe(0);
  });

  test('close ends idle sockets at once', async () => {
    const receiver = await answering('127.0.0.1');
    const outbound = client();
    await postTo(outbound, `http://127.0.0.1:${receiver.port}/`);
    expect(receiver.open).toBe(1);
    await outbound.close();
    await expect.poll(() => receiver.open).toBe(0);
  });
});
