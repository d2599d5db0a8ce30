// Packets of every kind: none ends the server, hangs it, or gets an answer that cannot be read, is too long, or is no answer to it.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { decode } from 'dns-packet';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isSoak, randomOf, seed } from '../support/soak.ts';
import { type DnsBench, dataOf, edns, queryOf, rcodeOf, startDnsBench } from './harness.ts';

const PACKETS = isSoak ? 100_000 : 4_000;
const AT_ONCE = 50;
const NAMES = [
  'acme.test',
  'www.acme.test',
  'many.acme.test',
  'x.wild.acme.test',
  'a.sub.acme.test',
  'none.acme.test',
  'example.org',
  '.',
];
const TYPES = ['A', 'AAAA', 'MX', 'TXT', 'NS', 'SOA', 'SRV', 'CAA', 'ANY', 'AXFR', 'DS'];

let bench: DnsBench;

beforeAll(async () => {
  bench = await startDnsBench();
  const owner = await bench.owner();
  await owner.zone('acme.test', 'www CNAME many\n*.wild TXT any\nsub NS ns.sub\nns.sub A 192.0.2.1\n');
  const values = Array.from({ length: 200 }, (_, i) => `192.0.2.${i}`);
  await owner.data('PUT', '/v1/dns/record/set', { zone: 'acme.test', name: 'many', type: 'A', values });
  await bench.askUntil('acme.test', 'SOA', (answer) => rcodeOf(answer) === 'NOERROR');
});
afterAll(() => bench.stop());

test(`${PACKETS} packets (SEED=${seed})`, async () => {
  const random = randomOf(seed);
  const socket = createSocket('udp4');
  const sent = new Map<number, Buffer>();
  let answered = 0;
  let faults: string[] = [];
  socket.on('message', (answer) => {
    answered += 1;
    const query = sent.get(answer.readUInt16BE(0));
    const isAnswer = query !== undefined && answer.length <= 1_232 && (answer.readUInt16BE(2) & 0x8000) !== 0;
    if (!isAnswer) faults.push(`no answer: ${answer.toString('hex')}`);
    else if (!canRead(answer)) faults.push(`${query.toString('hex')} got ${answer.toString('hex')}`);
    faults = faults.slice(0, 5);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  for (let count = 0; count < PACKETS; count += 1) {
    const packet = packetOf(random, count % 65_536);
    if (packet.length >= 2) sent.set(packet.readUInt16BE(0), packet);
    socket.send(packet, bench.port, '127.0.0.1');
    if (count % AT_ONCE === AT_ONCE - 1) await sleep(1);
  }
  await expect.poll(() => answered).toBeGreaterThan(PACKETS / 10);
  // All that came before it has been answered by then.
  expect(dataOf(await bench.ask('x.wild.acme.test', 'TXT'))).toHaveLength(1);
  socket.close();
  expect(faults).toEqual([]);
});

test('the same by TCP: broken lengths and messages end the connection, and no other', async () => {
  const random = randomOf(seed);
  for (let count = 0; count < (isSoak ? 2_000 : 50); count += 1) {
    const packet = packetOf(random, count);
    await Promise.race([bench.sendTcp(packet.length === 0 ? Buffer.alloc(1) : packet), sleep(50)]);
  }
  expect(rcodeOf(decode(await bench.sendTcp(queryOf('acme.test', 'SOA'))))).toBe('NOERROR');
});

function packetOf(random: (below: number) => number, id: number): Buffer {
  if (random(10) === 0) return Buffer.from(Array.from({ length: random(600) }, () => random(256)));
  const name = NAMES[random(NAMES.length)] as string;
  const type = TYPES[random(TYPES.length)] as string;
  const packet = Buffer.from(queryOf(name, type, random(2) === 0 ? {} : edns(random(5_000), random(8) === 0 ? 1 : 0)));
  packet.writeUInt16BE(id, 0);
  for (let changes = random(5); changes > 0; changes -= 1) packet[2 + random(packet.length - 2)] = random(256);
  return random(6) === 0 ? packet.subarray(0, random(packet.length)) : packet;
}

/** Names with dots in labels, or types that the library does not know, may be in the question. */
function canRead(answer: Buffer): boolean {
  try {
    decode(answer);
    return true;
  } catch {
    return false;
  }
}
