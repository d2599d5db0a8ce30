// Several processes behind one DNS port, on IPv4 and IPv6 at once: each answers by UDP and TCP, each sees a change, and a stop ends all.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, isIPv6 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { decode } from 'dns-packet';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlace, freePort, type Place, type ServiceProcess, startProcess } from '../support/process.ts';
import { client } from '../support/service.ts';
import { dataOf, queryOf } from './harness.ts';

const HOSTS = ['127.0.0.1', '::1'];
const ASKED = 60;

let place: Place;
let service: ServiceProcess;
let port: number;

beforeAll(async () => {
  port = await freePort();
  const http = await freePort();
  place = await createPlace({
    WORKERS: '2',
    HOST: '::',
    PORT: String(http),
    BASE_URL: `http://127.0.0.1:${http}`,
    DNS_PORT: String(port),
    DNS_RATE: '0',
  });
  service = await startProcess(place);
}, 120_000);
afterAll(() => place?.remove());

const call = async (method: string, path: string, body: object) => {
  const reply = await client(place.url, place.operatorKey())(method, `/v1/dns/${path}`, body);
  expect(reply.status, reply.text).toBe(200);
};

/** From a port of its own each time: the system chooses the process by it. */
async function byUdp(host: string): Promise<readonly string[] | null> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  try {
    socket.send(queryOf('www.workers.test', 'A'), port, host);
    const [answer] = await Promise.race([once(socket, 'message'), sleep(3_000, [null], { ref: false })]);
    return answer === null ? null : dataOf(decode(answer));
  } finally {
    socket.close();
  }
}

async function byTcp(host: string): Promise<readonly string[]> {
  const socket = connect(port, host);
  const query = queryOf('www.workers.test', 'A');
  socket.write(Buffer.concat([Buffer.of(0, query.length), query]));
  let seen = Buffer.alloc(0);
  for await (const chunk of socket) {
    seen = Buffer.concat([seen, chunk as Buffer]);
    if (seen.length >= 2 + seen.readUInt16BE(0)) break;
  }
  socket.destroy();
  return dataOf(decode(seen.subarray(2)));
}

const askAll = () =>
  Promise.all(
    HOSTS.flatMap((host) => Array.from({ length: ASKED }, (_, i) => (i % 4 === 0 ? byTcp(host) : byUdp(host)))),
  );

/** Sockets of the port, one of each process. */
async function listeners(): Promise<number> {
  const lines = (await readFile('/proc/net/udp6', 'utf8')).split('\n');
  return lines.filter((line) => line.includes(`:${port.toString(16).toUpperCase().padStart(4, '0')} `)).length;
}

test('every process answers at one port, by IPv4 and IPv6, and what was set last within a second', async () => {
  await call('POST', 'zone/create', { zone: 'workers.test' });
  for (const value of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
    await call('PUT', 'record/set', { zone: 'workers.test', name: 'www', type: 'A', ttl: 60, values: [value] });
    await sleep(1_200);
    const answers = await askAll();
    expect(new Set(answers.map((each) => JSON.stringify(each)))).toEqual(new Set([JSON.stringify([`"${value}"`])]));
  }
  expect(await listeners()).toBe(2);
});

test('a stop ends all of them', async () => {
  await service.end('SIGTERM');
  expect(await byUdp('127.0.0.1').catch(() => null)).toBe(null);
});
