// What can never be a target or a header of deliveries is refused at register and at update.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { WebhookCaller } from './api-harness.ts';

let service: TestService;
let own: WebhookCaller;
let registered: string;

beforeAll(async () => {
  // own service: its bench may move the clock
  service = await startTestService();
  own = await WebhookCaller.of(service);
  registered = (await own.register('https://example.org/hooks')).webhook_id;
});
afterAll(() => service.stop());

const refusedUrls = [
  'http://example.org/',
  'ftp://example.org/',
  'javascript:alert(1)',
  'not a url',
  'https://',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0x7f.1/',
  'https://2130706433/',
  'https://0177.0.0.1/',
  'https://127.0.0.1./',
  'https://１２７.０.０.１/',
  'https://localhost/',
  'https://localhost./',
  'https://hooks.localhost/',
  'https://printer/',
  'https://printer.local/',
  'https://db.internal/',
  'https://0.0.0.0/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://100.64.0.1/',
  'https://100.100.100.200/',
  'https://169.254.169.254/latest/meta-data/',
  'https://168.63.129.16/',
  'https://192.0.2.1/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://[::]/',
  'https://[::1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::7f00:1]/',
  'https://[64:ff9b::a9fe:a9fe]/',
  'https://[2002:7f00:1::]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]/',
  'https://[ff02::1]/',
  'https://[2001:db8::1]/',
  'https://user@example.org/',
  'https://user:word@example.org/',
  'https://@example.org/',
  'https://example.org:22/',
  'https://example.org:25/',
  'https://example.org:5432/',
  'https://example.org:6379/',
  'https://exam\tple.org/',
  'https://example.org/a\nb',
  'https://example.org/\0',
  'https://example.org/\ud800',
  ' https://example.org/',
];

test.each(refusedUrls)('%j is no target', async (url) => {
  const body = { url, events: ['queue.dlq'] };
  const expected = [400, 'WEBHOOK_URL_REJECTED', 'url'];
  const before = (await own.ok('GET', '/v1/account/webhooks/list')).items;
  expect(await own.fails('POST', '/v1/account/webhooks/register', body)).toEqual(expected);
  expect(await own.fails('PATCH', `/v1/account/webhooks/update/${registered}`, { url })).toEqual(expected);
  expect((await own.ok('GET', '/v1/account/webhooks/list')).items).toEqual(before);
});

const refusedHeaders: readonly (readonly [what: string, headers: Record<string, string>, param: string])[] = [
  ['CR LF in a value', { 'X-A': 'a\r\nX-B: b' }, 'headers.X-A'],
  ['LF in a value', { 'X-A': 'a\nb' }, 'headers.X-A'],
  ['NUL in a value', { 'X-A': 'a\0b' }, 'headers.X-A'],
  ['a value of 5 KiB', { 'X-A': 'a'.repeat(5 * 1024) }, 'headers.X-A'],
  ['a letter beyond ASCII', { 'X-A': 'é' }, 'headers.X-A'],
  ['CR LF in a name', { 'X-A\r\nX-B': 'b' }, 'headers.X-A??X-B'],
  ['a space in a name', { 'X A': 'b' }, 'headers.X?A'],
  ['no name', { '': 'b' }, 'headers.'],
  ['host', { Host: 'elsewhere' }, 'headers.Host'],
  ['content-length', { 'Content-Length': '0' }, 'headers.Content-Length'],
  ['content-type', { 'content-type': 'text/plain' }, 'headers.content-type'],
  ['transfer-encoding', { 'Transfer-Encoding': 'chunked' }, 'headers.Transfer-Encoding'],
  ['connection', { Connection: 'close' }, 'headers.Connection'],
  ['cookie', { Cookie: 'a=b' }, 'headers.Cookie'],
  ['forwarded', { Forwarded: 'for=127.0.0.1' }, 'headers.Forwarded'],
  ['webhook-signature', { 'Webhook-Signature': 'v1,x' }, 'headers.Webhook-Signature'],
  ['the same name twice', { 'X-A': 'a', 'x-a': 'b' }, 'headers.x-a'],
  ['21 headers', Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`X-${i}`, 'a'])), 'headers'],
];

describe('headers', () => {
  test.each(refusedHeaders)('%s is refused', async (_what, headers, param) => {
    const body = { url: 'https://example.org/', events: ['queue.dlq'], headers };
    const expected = [400, 'WEBHOOK_HEADER_REJECTED', param];
    expect(await own.fails('POST', '/v1/account/webhooks/register', body)).toEqual(expected);
    expect(await own.fails('PATCH', `/v1/account/webhooks/update/${registered}`, { headers })).toEqual(expected);
  });

  test('20 headers, and values of 4 KiB, are taken up to the limit of the body', async () => {
    const value = (i: number) => 'a'.repeat(i < 15 ? 4096 : 500);
    const headers = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`X-${i}`, value(i)]));
    const made = await own.register('https://example.org/', { headers });
    expect(Object.keys(made.headers)).toEqual(Object.keys(headers));
  });
});
