// PowerDNS' HTTP API: what its clients read and send; and a wildcard certificate by Debian's lego.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { client, createTestAccount } from '../support/service.ts';
import { type DnsBench, type DnsOwner, dataOf, startDnsBench } from './harness.ts';
import { certificateByLego, hasLego } from './lego.ts';

const API = '/v1/dns/powerdns/api/v1/servers/localhost/zones';

let bench: DnsBench;
let owner: DnsOwner;

beforeAll(async () => {
  bench = await startDnsBench();
  owner = await bench.owner();
  await owner.zone('acme.test', 'www 60 IN A 192.0.2.1\nwww 60 IN TXT "a \\"b\\""\n@ IN MX 10 mail\n');
});
afterAll(() => bench.stop());

const call = (method: string, path: string, body?: unknown, key = owner.secret) =>
  client(bench.test.url)(method, path, body, { 'x-api-key': key });
const patch = (...rrsets: readonly object[]) => call('PATCH', `${API}/acme.test.`, { rrsets });
const txt = (changetype: string, ...contents: readonly string[]) => ({
  name: '_acme-challenge.acme.test.',
  type: 'TXT',
  ttl: 120,
  changetype,
  records: contents.map((content) => ({ content, disabled: false })),
});

test('shows version, server, zones and record sets as PowerDNS does', async () => {
  expect(JSON.parse((await call('GET', '/v1/dns/powerdns/api')).text)).toEqual([{ url: '/api/v1', version: 1 }]);
  expect((await call('GET', '/v1/dns/powerdns/api/v1/servers/localhost')).body).toMatchObject({
    type: 'Server',
    id: 'localhost',
  });
  const [zone] = JSON.parse((await call('GET', API)).text);
  expect(zone).toMatchObject({ id: 'acme.test.', name: 'acme.test.', kind: 'Native' });
  expect(JSON.parse((await call('GET', `${API}?zone=none.test.`)).text)).toEqual([]);
  const { body } = await call('GET', `${API}/acme.test.`);
  expect(
    body.rrsets.map(({ name, type, records }: { name: string; type: string; records: { content: string }[] }) => [
      name,
      type,
      ...records.map(({ content }) => content),
    ]),
  ).toEqual([
    ['acme.test.', 'SOA', expect.stringMatching(/^ns1\.dns\.test\. hostmaster\.acme\.test\. \d+ /)],
    ['acme.test.', 'NS', 'ns1.dns.test.', 'ns2.dns.test.'],
    ['acme.test.', 'MX', '10 mail.acme.test.'],
    ['www.acme.test.', 'A', '192.0.2.1'],
    ['www.acme.test.', 'TXT', '"a \\"b\\""'],
  ]);
});

test('changes record sets, all or none', async () => {
  expect((await patch(txt('REPLACE', '"one"', '"two"'))).status).toBe(204);
  await bench.askUntil('_acme-challenge.acme.test', 'TXT', (answer) => dataOf(answer).length === 2);
  const bad = await patch(txt('REPLACE', '"three"'), {
    name: 'x.acme.test.',
    type: 'A',
    ttl: 60,
    changetype: 'REPLACE',
    records: [{ content: '1.2.3' }],
  });
  expect([bad.status, bad.body.code, bad.body.error]).toEqual([
    422,
    'VALIDATION_FAILED',
    expect.stringContaining('no value of A'),
  ]);
  const { items } = await owner.data('GET', '/v1/dns/record/list?zone=acme.test&type=TXT&name=_acme-challenge');
  expect(items[0].values).toEqual(['one', 'two']);
  expect((await patch(txt('DELETE'))).status).toBe(204);
  expect((await call('PUT', `${API}/acme.test./notify`)).status).toBe(200);
  await bench.askUntil('_acme-challenge.acme.test', 'TXT', (answer) => dataOf(answer).length === 0);
});

test('what is wrong is refused with its field', async () => {
  for (const [body, param] of [
    ['[', 'MALFORMED_JSON'],
    [{}, 'rrsets'],
    [{ rrsets: Array.from({ length: 501 }, () => ({})) }, 'rrsets'],
    [{ rrsets: [{ name: 1 }] }, 'rrsets[0].name'],
    [{ rrsets: [{ name: 'a.acme.test.', type: 'A', changetype: 'EXTEND' }] }, 'rrsets[0].changetype'],
    [{ rrsets: [{ name: 'a.example.org.', type: 'A', changetype: 'DELETE' }] }, 'rrsets[0].name'],
    [
      { rrsets: [{ name: 'acme.test.', type: 'SOA', changetype: 'REPLACE', records: [{ content: 'x' }] }] },
      'rrsets[0].type',
    ],
    [
      {
        rrsets: [
          { name: 'a.acme.test.', type: 'A', ttl: -1, changetype: 'REPLACE', records: [{ content: '192.0.2.1' }] },
        ],
      },
      'rrsets[0].ttl',
    ],
  ] as const) {
    const reply = await call('PATCH', `${API}/acme.test.`, body);
    expect(reply.status, param).toBeGreaterThanOrEqual(400);
    expect(reply.status, param).toBeLessThan(500);
    expect(reply.text).toContain(param.includes('.') || param === 'rrsets' ? param : 'MALFORMED_JSON');
  }
});

test('another account, a key without the scope, and no key are refused', async () => {
  const other = await bench.owner();
  expect((await call('GET', `${API}/acme.test.`, undefined, other.secret)).status).toBe(404);
  expect((await call('PATCH', `${API}/acme.test.`, { rrsets: [txt('DELETE')] }, other.secret)).status).toBe(404);
  const reader = await createTestAccount(bench.test.core, 1, ['dns:read']);
  expect((await call('PATCH', `${API}/acme.test.`, { rrsets: [] }, reader.secret)).status).toBe(403);
  expect((await call('GET', API, undefined, 'none')).status).toBe(401);
  expect((await call('POST', API, {})).status).toBe(404);
});

test.runIf(hasLego)('lego proves a domain and its wildcard to an ACME authority by the pdns provider', async () => {
  const made = await certificateByLego({
    domain: 'acme.test',
    url: bench.test.url,
    secret: owner.secret,
    nameServer: bench.address,
  });
  expect(made).toEqual({ names: 'DNS:*.acme.test, DNS:acme.test', proved: ['*.acme.test', 'acme.test'] });
  // Afterwards the proof is gone.
  expect((await owner.data('GET', '/v1/dns/record/list?zone=acme.test&name=_acme-challenge')).items).toEqual([]);
});
