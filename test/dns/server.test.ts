// The name server, asked by Node's resolver and packet by packet.
import { Resolver } from 'node:dns/promises';
import { decode } from 'dns-packet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DnsBench, type DnsOwner, dataOf, edns, queryOf, rcodeOf, startDnsBench } from './harness.ts';

const CONTENT = `$TTL 60
@        IN A     192.0.2.1
@        IN AAAA  2001:db8::1
@        IN MX    10 mail
@        IN TXT   "v=spf1 -all"
@        IN CAA   0 issue "letsencrypt.org"
www      IN CNAME @
away     IN CNAME www.example.org.
loop     IN CNAME pool
pool     IN CNAME loop
gone     IN CNAME nothing
_sip._tcp IN SRV  10 5 5060 sip
mail     IN A     192.0.2.2
a.b.deep IN A     192.0.2.3
*.wild   IN TXT   "any name"
there.wild IN A   192.0.2.4
sub      IN NS    ns.sub
sub      IN NS    ns.example.org.
ns.sub   IN A     192.0.2.53
`;

let bench: DnsBench;
let owner: DnsOwner;

beforeAll(async () => {
  bench = await startDnsBench();
  owner = await bench.owner();
  await owner.zone('acme.test', CONTENT);
  await bench.askUntil('acme.test', 'SOA', (answer) => rcodeOf(answer) === 'NOERROR');
});
afterAll(() => bench.stop());

describe('answers', () => {
  const cases: readonly (readonly [name: string, type: string, rcode: string, data: readonly unknown[]])[] = [
    ['acme.test', 'A', 'NOERROR', ['192.0.2.1']],
    ['ACME.Test', 'AAAA', 'NOERROR', ['2001:db8::1']],
    ['acme.test', 'MX', 'NOERROR', [{ preference: 10, exchange: 'mail.acme.test' }]],
    ['acme.test', 'NS', 'NOERROR', ['ns1.dns.test', 'ns2.dns.test']],
    ['acme.test', 'SRV', 'NOERROR', []],
    ['www.acme.test', 'A', 'NOERROR', ['192.0.2.1', 'acme.test']],
    ['www.acme.test', 'CNAME', 'NOERROR', ['acme.test']],
    ['away.acme.test', 'A', 'NOERROR', ['www.example.org']],
    ['gone.acme.test', 'A', 'NXDOMAIN', ['nothing.acme.test']],
    ['_sip._tcp.acme.test', 'SRV', 'NOERROR', [{ priority: 10, weight: 5, port: 5060, target: 'sip.acme.test' }]],
    ['deep.acme.test', 'A', 'NOERROR', []],
    ['b.deep.acme.test', 'A', 'NOERROR', []],
    ['c.deep.acme.test', 'A', 'NXDOMAIN', []],
    ['none.acme.test', 'A', 'NXDOMAIN', []],
    ['wild.acme.test', 'TXT', 'NOERROR', []],
    ['x.y.wild.acme.test', 'A', 'NOERROR', []],
    ['there.wild.acme.test', 'TXT', 'NOERROR', []],
    ['below.there.wild.acme.test', 'TXT', 'NXDOMAIN', []],
    ['example.org', 'A', 'REFUSED', []],
    ['test', 'A', 'REFUSED', []],
    ['.', 'NS', 'REFUSED', []],
    ['xacme.test', 'A', 'REFUSED', []],
  ];
  test.each(cases)('%s %s: %s', async (name, type, rcode, data) => {
    const answer = await bench.ask(name, type);
    expect(rcodeOf(answer)).toBe(rcode);
    expect(dataOf(answer)).toEqual(data.map((each) => JSON.stringify(each)).sort());
    expect(answer.flag_aa).toBe(rcode !== 'REFUSED');
    expect(answer.flag_ra).toBe(false);
    const isNegative = data.length === 0 && rcode !== 'REFUSED';
    if (isNegative) expect(answer.authorities).toMatchObject([{ type: 'SOA', name: 'acme.test', ttl: 300 }]);
  });

  test('a wildcard answers as the name that was asked for', async () => {
    const { answers } = await bench.ask('x.y.wild.acme.test', 'TXT');
    expect(answers).toMatchObject([{ name: 'x.y.wild.acme.test', data: [Buffer.from('any name')] }]);
  });

  test('aliases in a circle end', async () => {
    const { answers } = await bench.ask('loop.acme.test', 'A');
    expect(answers?.length).toBeLessThanOrEqual(9);
  });

  test('a name below a delegation is referred to its name servers, with their addresses', async () => {
    const answer = await bench.ask('www.sub.acme.test', 'A');
    expect(answer).toMatchObject({ flag_aa: false, answers: [] });
    expect(answer.authorities?.map((each) => ('data' in each ? each.data : ''))).toEqual([
      'ns.sub.acme.test',
      'ns.example.org',
    ]);
    expect(answer.additionals).toMatchObject([{ name: 'ns.sub.acme.test', type: 'A', data: '192.0.2.53' }]);
  });

  test('of ANY there is one small record', async () => {
    const { answers } = await bench.ask('acme.test', 'ANY');
    expect(answers).toMatchObject([{ type: 'HINFO', data: { cpu: 'RFC8482', os: '' } }]);
  });
});

describe('clients', () => {
  test("Node's resolver reads every type", async () => {
    const resolver = new Resolver();
    resolver.setServers([bench.address]);
    expect(await resolver.resolveCaa('acme.test')).toMatchObject([{ critical: 0, issue: 'letsencrypt.org' }]);
    expect(await resolver.resolveSoa('acme.test')).toEqual({
      nsname: 'ns1.dns.test',
      hostmaster: 'hostmaster.acme.test',
      serial: expect.any(Number),
      refresh: 3_600,
      retry: 600,
      expire: 1_209_600,
      minttl: 300,
    });
    expect(await resolver.resolveTxt('acme.test')).toEqual([['v=spf1 -all']]);
    expect(await resolver.resolve4('www.acme.test')).toEqual(['192.0.2.1']);
    expect(await resolver.resolveSrv('_sip._tcp.acme.test')).toMatchObject([
      { name: 'sip.acme.test', port: 5060, priority: 10, weight: 5 },
    ]);
    await expect(resolver.resolve4('none.acme.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  test('what is too long for UDP comes by TCP', async () => {
    const values = Array.from({ length: 200 }, (_, i) => `192.0.2.${i}`);
    await owner.data('PUT', '/v1/dns/record/set', { zone: 'acme.test', name: 'many', type: 'A', values });
    await bench.askUntil('many.acme.test', 'A', (answer) => rcodeOf(answer) === 'NOERROR');
    const cut = await bench.send(queryOf('many.acme.test', 'A', edns(4_096)));
    expect(decode(cut as Buffer)).toMatchObject({ flag_tc: true, answers: [] });
    const whole = await bench.sendTcp(queryOf('many.acme.test', 'A'));
    expect(decode(whole).answers).toHaveLength(200);
    const resolver = new Resolver();
    resolver.setServers([bench.address]);
    expect(await resolver.resolve4('many.acme.test')).toHaveLength(200);
  });
});

describe('what is refused', () => {
  test.each(['AXFR', 'IXFR'])('%s, by UDP and TCP', async (type) => {
    const query = queryOf('acme.test', type);
    for (const answer of [await bench.send(query), await bench.sendTcp(query)]) {
      expect(rcodeOf(decode(answer as Buffer))).toBe('REFUSED');
    }
  });

  test('version.bind', async () => {
    const questions = [{ type: 'TXT', name: 'version.bind', class: 'CH' }] as const;
    expect(rcodeOf(await bench.ask('version.bind', 'TXT', { questions: [...questions] }))).toBe('REFUSED');
  });

  test('an EDNS version that does not exist is BADVERS', async () => {
    const answer = await bench.ask('acme.test', 'A', edns(1_232, 3));
    // BADVERS is 16: its upper bits stand in OPT.
    expect([rcodeOf(answer), answer.additionals]).toMatchObject(['NOERROR', [{ type: 'OPT', extendedRcode: 1 }]]);
  });

  const packets: readonly (readonly [why: string, bytes: () => Buffer, rcode: string | null])[] = [
    ['an answer is not answered', () => mutated((query) => query.writeUInt16BE(0x8000, 2)), null],
    ['a short packet is not answered', () => queryOf('acme.test', 'A').subarray(0, 11), null],
    ['an update is not implemented', () => mutated((query) => query.writeUInt16BE(0x2800, 2)), 'NOTIMP'],
    ['two questions', () => mutated((query) => query.writeUInt16BE(2, 4)), 'FORMERR'],
    ['no question', () => mutated((query) => query.writeUInt16BE(0, 4)), 'FORMERR'],
    ['a name that points to itself', () => mutated((query) => query.writeUInt16BE(0xc00c, 12)), 'FORMERR'],
    ['a name without an end', () => queryOf('acme.test', 'A').subarray(0, 20), 'FORMERR'],
    ['a label of 64 bytes', () => mutated((query) => query.writeUInt8(64, 12)), 'FORMERR'],
    ['additional records that are not there', () => mutated((query) => query.writeUInt16BE(3, 10)), 'FORMERR'],
  ];
  test.each(packets)('%s', async (_, bytes, rcode) => {
    const answer = await bench.send(bytes(), rcode === null ? 150 : 2_000);
    expect(answer === null ? null : rcodeOf(decode(answer))).toBe(rcode);
  });
});

test('a dot within a label is no dot between labels', async () => {
  const query = queryOf('xacme.test', 'A');
  // One label "www.acme", then "test".
  const odd = Buffer.concat([query.subarray(0, 12), Buffer.from('\x08www.acme\x04test\x00\x00\x01\x00\x01', 'latin1')]);
  expect(rcodeOf(decode((await bench.send(odd)) as Buffer))).toBe('REFUSED');
});

test('changes are answered soon, and a deleted zone is refused', async () => {
  await owner.zone('short.test', 'www IN A 192.0.2.9');
  await bench.askUntil('www.short.test', 'A', (answer) => dataOf(answer)[0] === '"192.0.2.9"');
  await owner.data('PUT', '/v1/dns/record/set', { zone: 'short.test', name: 'www', type: 'A', values: ['192.0.2.10'] });
  // It asks a hundred times at most, 50 ms apart.
  await bench.askUntil('www.short.test', 'A', (answer) => dataOf(answer)[0] === '"192.0.2.10"');
  await owner.data('DELETE', '/v1/dns/record/delete?zone=short.test&name=www');
  await bench.askUntil('www.short.test', 'A', (answer) => rcodeOf(answer) === 'NXDOMAIN');
  await owner.data('DELETE', '/v1/dns/zone/delete/short.test');
  await bench.askUntil('www.short.test', 'A', (answer) => rcodeOf(answer) === 'REFUSED');
});

function mutated(change: (query: Buffer) => unknown): Buffer {
  const query = queryOf('acme.test', 'A');
  change(query);
  return query;
}
