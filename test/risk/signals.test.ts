// What addresses and mail domains tell by themselves: kind, country and network, MX records; and what look-ups may take.
import { Resolver } from 'node:dns/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createLog } from '../../src/core/process/log.ts';
import { addressKind } from '../../src/modules/risk/signals/facts.ts';
import { addressOf } from '../../src/modules/risk/signals/keys.ts';
import { MailExchangers } from '../../src/modules/risk/signals/mail-exchangers.ts';
import { Networks } from '../../src/modules/risk/signals/networks.ts';
import { type NameServer, startNameServer } from '../support/name-server.ts';
import { RiskBench } from './harness.ts';
import { mmdb } from './mmdb.ts';

test.each([
  ['8.8.8.8', 'public'],
  ['2606:4700::1111', 'public'],
  ['10.1.2.3', 'private'],
  ['192.168.0.1', 'private'],
  ['fd00::1', 'private'],
  ['127.0.0.1', 'loopback'],
  ['::1', 'loopback'],
  ['169.254.1.1', 'link_local'],
  ['fe80::1', 'link_local'],
  ['100.64.0.1', 'cgnat'],
  ['192.0.2.7', 'documentation'],
  ['198.51.100.7', 'documentation'],
  ['203.0.113.7', 'documentation'],
  ['2001:db8::1', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['255.255.255.255', 'broadcast'],
  ['0.0.0.0', 'unspecified'],
  ['::ffff:10.0.0.1', 'private'],
])('%s is %s', (ip, kind) => {
  expect(addressKind(addressOf(ip))).toBe(kind);
});

describe('databases of networks', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'qm-risk-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const countries = (iso: string) => mmdb('GeoLite2-Country', { '203.0.113.0/24': { country: { iso_code: iso } } });

  test('country and network of an address, from two files; an address in none has neither', async () => {
    const [country, asn] = [join(folder, 'country.mmdb'), join(folder, 'asn.mmdb')];
    await writeFile(country, countries('DE'));
    const record = { autonomous_system_number: 64_500, autonomous_system_organization: 'Example Net' };
    await writeFile(asn, mmdb('GeoLite2-ASN', { '203.0.113.0/24': record, '2001:db8::/32': record }));
    const bench = await RiskBench.start({ RISK_MMDB: `${country}, ${asn}` });
    const of = async (ip: string) => {
      const { country: iso, asn: number, network } = (await bench.score({ ip })).signals.ip;
      return [iso, number, network];
    };
    expect(await of('203.0.113.7')).toEqual(['DE', 64_500, 'Example Net']);
    expect(await of('2001:db8::7')).toEqual([null, 64_500, 'Example Net']);
    expect(await of('198.51.100.7')).toEqual([null, null, null]);
    await bench.stop();
  });

  test('a file that changes is read again; one that breaks serves as it was', async () => {
    const path = join(folder, 'changing.mmdb');
    await writeFile(path, countries('DE'));
    const networks = new Networks([path], createLog('silent'));
    const country = () => networks.of('203.0.113.7').country;
    await networks.read();
    expect(country()).toBe('DE');
    await writeFile(path, countries('FR'));
    await networks.read();
    expect(country()).toBe('FR');
    await writeFile(path, 'no database');
    await expect(networks.read()).rejects.toThrow();
    expect(country()).toBe('FR');
  });

  test('a damaged record tells nothing', async () => {
    const path = join(folder, 'damaged.mmdb');
    const bytes = countries('DE');
    bytes.fill(0xff, bytes.indexOf('iso_code') - 1, bytes.indexOf('iso_code') + 11);
    await writeFile(path, bytes);
    const networks = new Networks([path], createLog('silent'));
    await networks.read();
    expect(networks.of('203.0.113.7')).toEqual({ country: null, asn: null, network: null });
  });

  test('a path that leads nowhere ends the start', async () => {
    await expect(RiskBench.start({ RISK_MMDB: join(folder, 'none.mmdb') })).rejects.toThrow(/RISK_MMDB/);
  });
});

describe('MX records', () => {
  let names: NameServer;
  beforeAll(async () => {
    names = await startNameServer();
  });
  afterAll(() => names.stop());

  test('records, none, and a domain that takes no mail; asked once, also by many at once', async () => {
    const exchangers = new MailExchangers([names.address]);
    names.set('MX', 'has.test', '10 mail.has.test');
    names.set('MX', 'null.test', '0 .');
    names.set('A', 'bare.test', '192.0.2.1');
    expect(
      await Promise.all(['has.test', 'null.test', 'bare.test', 'none.test'].map((name) => exchangers.of(name))),
    ).toEqual([...[true, false, false, false]]);
    await Promise.all(Array.from({ length: 20 }, () => exchangers.of('has.test')));
    expect(names.asked.filter((question) => question === 'MX has.test')).toHaveLength(1);
    exchangers.close();
  });

  test('a server that is silent is unknown long before it has been waited for to the end', async () => {
    names.misbehave('mute.test', 'silence');
    const asking = vi.spyOn(Resolver.prototype, 'resolveMx');
    const exchangers = new MailExchangers([names.address]);
    expect(await exchangers.of('mute.test')).toBeNull();
    expect(asking.mock.settledResults).toMatchObject([{ type: 'incomplete' }]);
    await expect(asking.mock.results[0]?.value).rejects.toMatchObject({ code: 'ETIMEOUT' });
    exchangers.close();
    asking.mockRestore();
  });

  test('a server that is silent or fails is unknown', async () => {
    names.misbehave('silent.test', 'silence');
    names.misbehave('broken.test', 'servfail');
    const bench = await RiskBench.start({ DNS_RESOLVERS: names.address });
    const { signals, reasons } = await bench.score({ email: 'a@silent.test' });
    expect([signals.email.has_mx, reasons]).toEqual([null, []]);
    expect((await bench.score({ email: 'a@broken.test' })).signals.email.has_mx).toBeNull();
    expect(await bench.score({ email: 'a@none.test' })).toMatchObject({ reasons: [{ rule: 'no_mail_server' }] });
    await bench.stop();
  });

  test('beyond 100 questions at once the next are unknown, and nothing is asked for them', async () => {
    const exchangers = new MailExchangers([names.address]);
    for (let i = 0; i < 120; i += 1) names.misbehave(`q${i}.flood.test`, 'silence');
    const before = names.asked.length;
    const answers = await Promise.all(Array.from({ length: 120 }, (_, i) => exchangers.of(`q${i}.flood.test`)));
    expect(answers.every((answer) => answer === null)).toBe(true);
    expect(names.asked.length - before).toBeLessThanOrEqual(100);
    exchangers.close();
  });
});
