// Look-ups: what a resolver says is shown as it is, a bad one costs two seconds at most, and only public ones and the operator's are asked.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { NameServer as Server } from '../../src/lib/name-server.ts';
import { ASK_MS } from '../../src/modules/dns/limits.ts';
import { ask } from '../../src/modules/dns/lookup/ask.ts';
import { type Misbehaviour, type NameServer, startNameServer } from '../support/name-server.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

let names: NameServer;
let second: NameServer;
let service: TestService;
let call: Client;
let server: Server;

beforeAll(async () => {
  [names, second] = await Promise.all([startNameServer(), startNameServer()]);
  const [host = '', port] = names.address.split(':');
  server = { text: names.address, host, port: Number(port) };
  service = await startTestService({ env: { DNS_RESOLVERS: `${names.address},${second.address}`, RATE_LIMITS: 'on' } });
  call = client(service.url, (await createTestAccount(service.core)).secret);
});
afterEach(() => {
  names.clear();
  second.clear();
});
afterAll(async () => {
  await service.stop();
  await Promise.all([names.stop(), second.stop()]);
});

const lookup = async (query: string) => (await call('GET', `/v1/dns/lookup?${query}`)).body;

describe('dns.lookup', () => {
  test('shows records with their data', async () => {
    names.set('MX', 'acme.test', '20 Second.acme.test', '5 first.acme.test');
    names.set('TXT', 'acme.test', `v=DKIM1; p=${'A'.repeat(392)}`);
    names.set('CNAME', 'www.acme.test', 'acme.test');
    names.set('A', 'acme.test', '192.0.2.1');
    expect((await lookup('name=Acme.test.&type=MX')).data).toMatchObject({
      name: 'acme.test',
      type: 'MX',
      resolver: names.address,
      rcode: 'NOERROR',
      authenticated: false,
      answers: [{ name: 'acme.test', type: 'MX', ttl: 0, data: '20 second.acme.test' }, { data: '5 first.acme.test' }],
    });
    expect((await lookup('name=acme.test&type=TXT')).data.answers[0].data).toBe(`v=DKIM1; p=${'A'.repeat(392)}`);
    expect((await lookup('name=www.acme.test')).data.answers).toMatchObject([
      { type: 'CNAME', data: 'acme.test' },
      { data: '192.0.2.1' },
    ]);
    expect((await lookup('name=none.test')).data).toMatchObject({ rcode: 'NXDOMAIN', answers: [] });
  });

  test('asks the resolver that is named, when it is public or the operator’s', async () => {
    second.set('A', 'acme.test', '192.0.2.7');
    expect((await lookup(`name=acme.test&resolver=${second.address}`)).data.answers[0].data).toBe('192.0.2.7');
    for (const resolver of [
      '127.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '192.0.2.1',
      '::1',
      '[::1]:53',
      'fd00::1',
      '1.1.1.1:5353',
      '::ffff:127.0.0.1',
      '0.0.0.0',
      '224.0.0.1',
      '1.2.3',
    ]) {
      expect((await lookup(`name=acme.test&resolver=${encodeURIComponent(resolver)}`)).error, resolver).toMatchObject({
        code: 'VALIDATION_FAILED',
        param: 'resolver',
      });
    }
  });

  test('of a thousand records the first hundred are shown', async () => {
    names.set('TXT', 'many.test', ...Array.from({ length: 1_000 }, (_, i) => `record ${i}`));
    expect((await lookup('name=many.test&type=TXT')).data.answers).toHaveLength(100);
    expect(names.asked).toContain('tcp TXT many.test');
  });
});

test('silence, forged and broken answers are told, and end in time', async () => {
  const wanted: Readonly<Record<Misbehaviour, readonly string[]>> = {
    silence: ['TIMEOUT'],
    'wrong id': ['TIMEOUT'],
    servfail: ['SERVFAIL'],
    refused: ['REFUSED'],
    loop: ['NOERROR', 'MALFORMED'],
    garbage: ['MALFORMED', 'TIMEOUT'],
    cut: ['MALFORMED'],
  };
  // It begins when they do, and where the machine is slow it is as late as their own.
  const late = AbortSignal.timeout(2 * ASK_MS);
  const found = Object.entries(wanted).map(async ([how, codes], at) => {
    names.misbehave(`bad${at}.test`, how as Misbehaviour);
    const { rcode } = await ask(server, `bad${at}.test`, 'TXT');
    expect(codes, how).toContain(rcode);
  });
  await Promise.all(found);
  expect(late.aborted).toBe(false);
  expect((await ask({ text: '', host: '127.0.0.1', port: 1 }, 'acme.test', 'A')).rcode).toBe('UNREACHABLE');
});

test('dns.propagation says whether all resolvers agree', async () => {
  const propagation = async (query: string) => (await call('GET', `/v1/dns/propagation?${query}`)).body.data;
  names.set('A', 'acme.test', '192.0.2.1', '192.0.2.2');
  second.set('A', 'acme.test', '192.0.2.2', '192.0.2.1');
  expect(await propagation('name=acme.test')).toMatchObject({
    agreed: true,
    resolvers: [{ matches: null }, { matches: null }],
  });
  expect((await propagation('name=acme.test&expected=192.0.2.1')).agreed).toBe(true);
  second.set('A', 'acme.test', '192.0.2.9');
  expect(await propagation('name=acme.test&expected=192.0.2.1')).toMatchObject({
    agreed: false,
    resolvers: [{ matches: true }, { matches: false }],
  });
  second.misbehave('acme.test', 'servfail');
  expect((await propagation('name=acme.test')).agreed).toBe(false);
});

test('ten look-ups a second: each takes ten free reads', async () => {
  const { secret } = await createTestAccount(service.core);
  const mine = client(service.url, secret);
  names.set('A', 'acme.test', '192.0.2.1');
  const ask = async (count: number) => {
    const calls = Array.from({ length: count }, () => mine('GET', '/v1/dns/lookup?name=acme.test'));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.every((status) => status === 200 || status === 429)).toBe(true);
    return statuses.filter((status) => status === 200).length;
  };
  // Four seconds' worth at once; calls that come together may be let in before what they take is known. Then the next ones wait for it.
  expect(await ask(80)).toBeGreaterThanOrEqual(40);
  expect(await ask(40)).toBeLessThan(40);
});
