// The exact bytes that a receiver sees.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { signedHeaders } from '../../src/core/outbound/signature.ts';
import { signingSecret } from '../../src/core/outbound/signing-secret.ts';
import { checkTargetHeaders } from '../../src/core/outbound/target-headers.ts';
import type { OutboundClient } from '../../src/vendors/http/port.ts';
import { listen, loopbackClient, OK, postTo, type Receiver } from './receivers.ts';

let receiver: Receiver;
let client: OutboundClient;
let seen = 0;

beforeAll(async () => {
  receiver = await listen({ onRequest: (socket) => socket.write(OK) });
  client = loopbackClient({ resolve: async () => ['127.0.0.1'] });
});
beforeEach(() => {
  seen = receiver.text.length;
});
afterAll(async () => {
  await client.close();
  await receiver.close();
});

function wire(): string {
  return receiver.text.slice(seen);
}

test('a request is its line, its headers and its body, and nothing else', async () => {
  const url = `http://hooks.example.com.:${receiver.port}/a%20b/../c?d=e&f#secret`;
  const custom = checkTargetHeaders({ Authorization: 'Bearer abc', 'X-Inner': 'a b' }, 'headers');
  const body = '{"é":"漢"}';
  expect(await postTo(client, url, { headers: custom, body })).toMatchObject({ kind: 'answered', status: 200 });
  expect(wire()).toBe(
    [
      'POST /c?d=e&f HTTP/1.1',
      `host: hooks.example.com:${receiver.port}`,
      'connection: keep-alive',
      'accept-encoding: identity',
      'Authorization: Bearer abc',
      'X-Inner: a b',
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      Buffer.from(body).toString('latin1'),
    ].join('\r\n'),
  );
});

test('the signature on the wire is of the bytes on the wire', async () => {
  const secret = signingSecret(null, 'secret');
  const body = JSON.stringify({ text: 'é'.repeat(10_000) });
  const headers = signedHeaders({ id: 'evt_1', timestampMs: 1_700_000_000_000, body }, [secret]);
  await postTo(client, `http://127.0.0.1:${receiver.port}/`, { headers, body });
  const [head, sent] = wire().split('\r\n\r\n') as [string, string];
  const key = Buffer.from(secret.slice(6), 'base64');
  const signed = Buffer.concat([Buffer.from('evt_1.1700000000.'), Buffer.from(sent, 'latin1')]);
  expect(head).toContain(`webhook-signature: v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
});

describe('headers that would break the line', () => {
  test.each<Record<string, string>>([
    { 'x-a': 'v\r\nx-evil: 1' },
    { 'x-a': 'v\nx-evil: 1' },
    { 'x-a': 'v\rx-evil: 1' },
    { 'x-a': 'x-evil\0' },
    { 'x-a': `x-evil${'v'.repeat(5 * 1024)}` },
    { 'x-a\r\nx-evil': '1' },
    { 'x-evil:': '1' },
    { 'x-a': 'x-evil é' },
    { 'Content-Length': '0' },
    { 'Transfer-Encoding': 'chunked' },
    { Host: 'x-evil.example.com' },
  ])('%j is refused at register, and by the client itself', async (headers) => {
    expect(() => checkTargetHeaders(headers, 'headers')).toThrow(
      expect.objectContaining({ code: 'WEBHOOK_HEADER_REJECTED' }),
    );
    const outcome = await postTo(client, `http://127.0.0.1:${receiver.port}/`, { headers });
    expect(outcome).toMatchObject({ kind: 'failed', code: 'protocol' });
    expect(JSON.stringify(outcome)).not.toContain('evil');
    expect(wire()).toBe('');
  });
});
