// Zones and records by the API: what is taken, what is refused, whose a zone is.
import { decode } from 'dns-packet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statement } from '../../src/db/statement.ts';
import { type NameServer, startNameServer } from '../support/name-server.ts';
import { client, createTestOperator } from '../support/service.ts';
import { type DnsBench, type DnsOwner, queryOf, rcodeOf, startDnsBench } from './harness.ts';

let bench: DnsBench;
let owner: DnsOwner;
/** What the world's resolvers say. */
let names: NameServer;
let zones = 0;

beforeAll(async () => {
  names = await startNameServer();
  bench = await startDnsBench({ env: { DNS_RESOLVERS: names.address, EMAIL_BOUNCE_DOMAIN: 'bounces.service.test' } });
  owner = await bench.owner();
});
afterAll(async () => {
  await bench.stop();
  await names.stop();
});

const newZone = async (of = owner) => {
  zones += 1;
  await of.zone(`z${zones}.test`);
  return `z${zones}.test`;
};
const set = (zone: string, name: string, type: string, values: readonly string[], of = owner) =>
  of.call('PUT', '/v1/dns/record/set', { zone, name, type, values });

describe('values', () => {
  const long = 'x'.repeat(600);
  const taken: readonly (readonly [type: string, sent: string, stored: string])[] = [
    ['A', '192.0.2.1', '192.0.2.1'],
    ['AAAA', '2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['AAAA', '::ffff:192.0.2.1', '::ffff:c000:201'],
    ['CNAME', 'Host.Example.org.', 'host.example.org'],
    ['CNAME', 'bücher.example', 'xn--bcher-kva.example'],
    ['MX', '0 .', '0 .'],
    ['MX', '  10   mail.example.org. ', '10 mail.example.org'],
    ['NS', 'ns1.example.org', 'ns1.example.org'],
    ['PTR', 'host.example.org.', 'host.example.org'],
    ['SRV', '0 0 443 .', '0 0 443 .'],
    ['CAA', '128 ISSUE "letsencrypt.org; a=b"', '128 issue "letsencrypt.org; a=b"'],
    ['CAA', '0 iodef mailto:a@example.org', '0 iodef "mailto:a@example.org"'],
    ['TXT', 'a "quoted" word; and \\ more', 'a "quoted" word; and \\ more'],
    ['TXT', '"one" "two"', 'onetwo'],
    ['TXT', '"a \\"b\\" \\\\ \\195\\164"', 'a "b" \\ ä'],
    ['TXT', long, long],
  ];
  let zone: string;
  beforeAll(async () => {
    zone = await newZone();
  });

  test.each(taken.map((each, at) => [`v${at}`, ...each] as const))('%s %s', async (name, type, sent, stored) => {
    const { body } = await set(zone, name, type, [sent]);
    expect(body.data).toMatchObject({ zone, name: `${name}.${zone}`, type, ttl: 300, values: [stored] });
  });

  test('come back from a zone file, and are answered', async () => {
    const listed = async () =>
      (await owner.data('GET', `/v1/dns/record/list?zone=${zone}&limit=100`)).items.map(
        ({ updated_at: _, ...record }: { updated_at: string }) => record,
      );
    const before = await listed();
    const { content } = await owner.data('GET', `/v1/dns/zone/export/${zone}`);
    await owner.data('DELETE', `/v1/dns/zone/delete/${zone}`);
    await owner.zone(zone, content);
    expect(await listed()).toEqual(before);
    expect(before).toHaveLength(taken.length);
    await bench.askUntil(`v0.${zone}`, 'A', ({ answers = [] }) => answers.length === 1);
    for (const [at, [type]] of taken.entries()) {
      const answer = decode(await bench.sendTcp(queryOf(`v${at}.${zone}`, type)));
      expect([...(answer.answers ?? []), ...(answer.authorities ?? [])], type).toMatchObject([
        { type, name: `v${at}.${zone}` },
      ]);
    }
  });

  const refused: readonly (readonly [type: string, value: string])[] = [
    ...(['256.0.0.1', '1.2.3', '01.2.3.4', '::1', '192.0.2.1 192.0.2.2'] as const).map(
      (value) => ['A', value] as const,
    ),
    ...(['192.0.2.1', 'fe80::1%eth0', ':::'] as const).map((value) => ['AAAA', value] as const),
    ...(['', ' ', '-a.example', 'a..b', 'a b', `${'a'.repeat(64)}.example`, '*.example', 'a\\.b'] as const).map(
      (value) => ['CNAME', value] as const,
    ),
    ...(['mail.example', '-1 mail.example', '65536 mail.example', '10'] as const).map(
      (value) => ['MX', value] as const,
    ),
    ...(['1 2 3', '1 2 65536 a.example'] as const).map((value) => ['SRV', value] as const),
    ...(['256 issue "a"', '0 is-sue "a"', '0 issue'] as const).map((value) => ['CAA', value] as const),
    ...(['"a', 'a\u0000b', '"\\300"', '"\\255"', 'ä'.repeat(2_049)] as const).map((value) => ['TXT', value] as const),
  ];
  test('what is no value is refused, naming it', async () => {
    for (const [type, value] of refused) {
      const { status, body } = await set(zone, 'a', type, [value]);
      expect([status, body.error.code, body.error.param], `${type} ${value}`).toEqual([
        400,
        'VALIDATION_FAILED',
        'values[0]',
      ]);
    }
    expect((await owner.data('GET', `/v1/dns/record/list?zone=${zone}&name=a`)).items).toEqual([]);
  });
});

describe('names of records', () => {
  const names: readonly (readonly [sent: string, stored: string | null])[] = [
    ['@', 'ZONE'],
    ['www', 'www.ZONE'],
    ['WWW.ZONE', 'www.ZONE'],
    ['www.ZONE.', 'www.ZONE'],
    ['*', '*.ZONE'],
    ['*.a', '*.a.ZONE'],
    ['_dmarc', '_dmarc.ZONE'],
    ['bücher', 'xn--bcher-kva.ZONE'],
    ['www.example.org.', null],
    ['a..b', null],
    ['a.*', null],
    ['-a', null],
    ['a'.repeat(64), null],
    [Array.from({ length: 130 }, () => 'a').join('.'), null],
  ];
  test.each(names)('%s', async (sent, stored) => {
    const zone = await newZone();
    const { status, body } = await set(zone, sent.replace('ZONE', zone), 'A', ['192.0.2.1']);
    expect(status === 200 ? body.data.name : body.error.param).toBe(stored?.replace('ZONE', zone) ?? 'name');
  });
});

test('a CNAME stands alone, whatever comes first, and never at the zone itself', async () => {
  const zone = await newZone();
  await set(zone, 'a', 'A', ['192.0.2.1']);
  await set(zone, 'c', 'CNAME', ['host.example']);
  for (const [name, type, value] of [
    ['a', 'CNAME', 'host.example'],
    ['c', 'TXT', 'text'],
    ['@', 'CNAME', 'host.example'],
    ['b', 'CNAME', `b.${zone}`],
  ] as const) {
    const { body } = await set(zone, name, type, [value]);
    expect(body.error?.code, `${name} ${type}`).toBe('VALIDATION_FAILED');
  }
  const { body } = await owner.call('POST', '/v1/dns/zone/import', { zone, content: 'a IN CNAME host.example.\n' });
  expect(body.error).toMatchObject({ code: 'VALIDATION_FAILED', param: 'content' });
});

test('every change grows the serial', async () => {
  const zone = await newZone();
  const serial = async () => (await owner.data('GET', `/v1/dns/zone/get/${zone}`)).serial;
  const seen = [await serial()];
  for (const value of ['192.0.2.1', '192.0.2.2']) {
    await set(zone, 'a', 'A', [value]);
    seen.push(await serial());
  }
  await owner.data('DELETE', `/v1/dns/record/delete?zone=${zone}&name=a`);
  seen.push(await serial());
  expect(new Set(seen).size).toBe(4);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
});

test('the records of a zone are listed page by page, by name and by type', async () => {
  const zone = await newZone();
  const content = Array.from({ length: 25 }, (_, i) => `n${String(i).padStart(2, '0')} IN A 192.0.2.${i}\n`).join('');
  await owner.data('POST', '/v1/dns/zone/import', { zone, content: `${content}n03 IN TXT more\n` });
  const path = `/v1/dns/record/list?zone=${zone}&limit=10`;
  const names: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { items: { name: string }[]; next_cursor: string | null } = await owner.data(
      'GET',
      `${path}${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    names.push(...page.items.map(({ name }) => name));
    cursor = page.next_cursor;
  }
  expect(names).toHaveLength(26);
  expect([...new Set(names)].sort()).toEqual([...new Set(names)]);
  expect((await owner.data('GET', `${path}&name=n03`)).items).toHaveLength(2);
  expect((await owner.data('GET', `${path}&type=TXT`)).items).toHaveLength(1);
});

describe('whose a zone is', () => {
  test('another account gets neither the zone nor one within or above it, until it is deleted', async () => {
    const other = await bench.owner();
    await owner.zone('shop.mine.test');
    const create = async (zone: string) =>
      (await other.call('POST', '/v1/dns/zone/create', { zone })).body.error?.code ?? 'created';
    expect(await create('Shop.Mine.test.')).toBe('ALREADY_EXISTS');
    expect(await create('mine.test')).toBe('ALREADY_EXISTS');
    expect(await create('deep.shop.mine.test')).toBe('ALREADY_EXISTS');
    expect(await create('beside.mine.test')).toBe('created');
    expect(await create('op.mine.test')).toBe('created');
    await owner.data('DELETE', '/v1/dns/zone/delete/shop.mine.test');
    expect(await create('shop.mine.test')).toBe('created');
  });

  test('of accounts that create one zone at once, one gets it', async () => {
    const owners = await Promise.all(Array.from({ length: 6 }, () => bench.owner()));
    const names = ['race.test', 'a.race.test', 'race.test', 'b.a.race.test', 'race.test', 'a.race.test'];
    const replies = await Promise.all(
      owners.map(({ call }, at) => call('POST', '/v1/dns/zone/create', { zone: names[at] })),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(
      replies.filter(({ status }) => status !== 200).every(({ body }) => body.error.code === 'ALREADY_EXISTS'),
    ).toBe(true);
  });

  test('one that was not delegated here for 7 days goes to whoever adds it; its records stay with who lost it', async () => {
    const other = await bench.owner();
    await owner.zone('lost.test', 'www IN A 192.0.2.1');
    const create = async () =>
      (await other.call('POST', '/v1/dns/zone/create', { zone: 'lost.test' })).body.error?.code ?? 'created';
    const age = statement(
      '',
      `UPDATE dns.zone_name SET undelegated_since = created.at FROM (SELECT core.clock_now() - interval '8 days' AS at) created WHERE account_id = $1 AND zone = $2`,
    );
    const daysPass = () => bench.test.core.db.query(age, [owner.accountId, 'lost.test']);
    const delegation = async () => (await owner.data('GET', '/v1/dns/zone/get/lost.test')).delegation;
    names.set('NS', 'lost.test', 'ns.other.test');
    expect(await delegation()).toEqual({ status: 'elsewhere', name_servers: ['ns.other.test'] });
    expect(await create()).toBe('ALREADY_EXISTS');
    await daysPass();
    // It leads here again, or nobody knows: it is kept.
    names.set('NS', 'lost.test', 'ns.other.test', 'ns2.dns.test');
    expect((await delegation()).status).toBe('partly');
    expect(await create()).toBe('ALREADY_EXISTS');
    await daysPass();
    names.misbehave('lost.test', 'servfail');
    expect((await delegation()).status).toBe('unknown');
    expect(await create()).toBe('ALREADY_EXISTS');
    names.misbehave('lost.test', null);
    names.set('NS', 'lost.test', 'ns.other.test');
    expect(await create()).toBe('created');
    await bench.askUntil('www.lost.test', 'A', (answer) => rcodeOf(answer) === 'NXDOMAIN');
    expect(await owner.data('GET', '/v1/dns/zone/get/lost.test')).toMatchObject({
      status: 'released',
      record_count: 1,
    });
    expect((await owner.call('POST', '/v1/dns/zone/create', { zone: 'lost.test' })).body.error.code).toBe(
      'ALREADY_EXISTS',
    );
    await other.data('DELETE', '/v1/dns/zone/delete/lost.test');
    await owner.zone('lost.test');
    await bench.askUntil('www.lost.test', 'A', ({ answers = [] }) => answers.length === 1);
  });
});

test('names of the service, and what lies above or below them, are zones of its operator alone', async () => {
  const create = (zone: string, by = owner) => by.call('POST', '/v1/dns/zone/create', { zone });
  for (const zone of ['ns1.dns.test', 'a.ns2.dns.test', 'dns.test', 'bounces.service.test', 'x.bounces.service.test']) {
    const { status, body } = await create(zone);
    expect([status, body.error?.param], zone).toEqual([400, 'zone']);
    expect(body.error.message).toContain('only its operator may have it');
  }
  expect((await create('other.dns.test')).status).toBe(200);
  const { secret } = await createTestOperator(bench.test.core);
  const made = await client(bench.test.url, secret)('POST', '/v1/dns/zone/create', { zone: 'bounces.service.test' });
  expect(made.status).toBe(200);
});

test('zones of two accounts below one suffix of a company do not lie within each other', async () => {
  const other = await bench.owner();
  await owner.zone('mine.s3.amazonaws.com');
  const create = async (zone: string) =>
    (await other.call('POST', '/v1/dns/zone/create', { zone })).body.error?.code ?? 'created';
  expect(await create('theirs.s3.amazonaws.com')).toBe('created');
  expect(await create('amazonaws.com')).toBe('ALREADY_EXISTS');
  expect(await create('deep.mine.s3.amazonaws.com')).toBe('ALREADY_EXISTS');
});

test('public suffixes, single labels and addresses are no zones', async () => {
  for (const zone of [
    'test',
    'co.uk',
    'github.io',
    // The list says `*.kawasaki.jp`, `!city.kawasaki.jp` and `*.compute.amazonaws.com`.
    'kawasaki.jp',
    'foo.kawasaki.jp',
    'compute.amazonaws.com',
    '*.mine.test',
    'a b.test',
    'https://a.test',
    `${'a.'.repeat(130)}test`,
  ]) {
    const { status, body } = await owner.call('POST', '/v1/dns/zone/create', { zone });
    expect([status, body.error.param], zone).toEqual([400, 'zone']);
  }
});

test('a tier has so many zones', async () => {
  const full = await bench.owner();
  for (let made = 0; made < 50; made += 1) await full.zone(`full${made}.test`);
  expect((await full.call('POST', '/v1/dns/zone/create', { zone: 'one-more.test' })).body.error.code).toBe(
    'QUOTA_EXCEEDED',
  );
});
