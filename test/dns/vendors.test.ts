// Zones at name servers of others: BIND and Knot by signed updates and transfers, Cloudflare by its API. One table for all of them: what a call does
// stands there, and what others do there is seen.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Authoritative, isInstalled, type Maker, startAuthoritative } from '../support/authoritative.ts';
import { type CloudflareDouble, startCloudflare } from '../support/cloudflare.ts';
import { client } from '../support/service.ts';
import type { DnsBench, DnsOwner } from './harness.ts';
import { certificateByLego, hasLego } from './lego.ts';
import { startWithVendors } from './vendors-harness.ts';

const ZONES = ['shop.test', 'a.many.test', 'b.many.test', 'secret.test'];
const OPEN = ['shop.test', '*.many.test', 'nowhere.test'];
const makers: readonly (Maker | 'cloudflare')[] = ['bind', 'knot', 'cloudflare'];

interface There {
  /** `address:port`, where it answers questions too. */
  readonly address: string;
  readonly entry: object;
  readonly env: Readonly<Record<string, string>>;
  readonly nameServers: (zone: string) => readonly string[];
  stop(): Promise<void>;
}

async function startThere(maker: Maker | 'cloudflare'): Promise<There & { readonly double: CloudflareDouble | null }> {
  if (maker !== 'cloudflare') {
    const server: Authoritative = await startAuthoritative(maker, ZONES);
    const { address, keyName, secret, algorithm } = server;
    const key = { key_name: keyName, key_secret: '${TEST_TSIG}', algorithm };
    return {
      double: null,
      address,
      env: { TEST_TSIG: secret },
      entry: { adapter: 'rfc2136', server: address, ...key },
      nameServers: (zone) => [`ns1.${zone}`, `ns2.${zone}`],
      stop: () => server.stop(),
    };
  }
  const double = await startCloudflare(ZONES);
  return {
    double,
    address: '',
    env: { TEST_CLOUDFLARE: double.key },
    entry: { adapter: 'cloudflare', base_url: double.baseUrl, api_key: '${TEST_CLOUDFLARE}' },
    nameServers: () => ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'],
    stop: () => double.stop(),
  };
}

for (const maker of makers) {
  const isThere = maker === 'cloudflare' || isInstalled(maker);
  describe.runIf(isThere)(isThere ? maker : `${maker} is not installed`, () => {
    let there: Awaited<ReturnType<typeof startThere>>;
    let bench: DnsBench;
    let owner: DnsOwner;
    beforeAll(async () => {
      there = await startThere(maker);
      bench = await startWithVendors([{ id: 'elsewhere', ...there.entry, zones: OPEN }], { env: there.env });
      owner = await bench.owner();
    });
    afterAll(async () => {
      await bench.stop();
      await there.stop();
    });

    const create = (zone: string, of = owner, vendor: string | undefined = 'elsewhere') =>
      of.call('POST', '/v1/dns/zone/create', { zone, vendor });
    const set = (zone: string, name: string, type: string, values: readonly string[], ttl = 120) =>
      owner.call('PUT', '/v1/dns/record/set', { zone, name, type, values, ttl });
    const list = async (zone: string, more = '') =>
      (await owner.data('GET', `/v1/dns/record/list?zone=${zone}&limit=100${more}`)).items.filter(
        ({ name }: { name: string }) => !/^ns[12]\./.test(name),
      );

    test('a zone that the vendor has, and the operator lets accounts hold, is created; no other', async () => {
      const { status, body } = await create('shop.test');
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.data).toMatchObject({
        vendor: 'elsewhere',
        status: 'active',
        name_servers: there.nameServers('shop.test'),
      });
      expect((await create('a.many.test')).status).toBe(200);
      for (const [zone, vendor, param] of [
        ['secret.test', 'elsewhere', 'vendor'],
        ['many.test', 'elsewhere', 'vendor'],
        ['evilshop.test', 'elsewhere', 'vendor'],
        ['shop.test.evil.test', 'elsewhere', 'vendor'],
        ['nowhere.test', 'elsewhere', 'zone'],
        ['b.many.test', 'nobody', 'vendor'],
      ] as const) {
        const refused = await create(zone, owner, vendor);
        expect([refused.status, refused.body.error?.param], zone).toEqual([400, param]);
      }
      const other = await bench.owner();
      expect((await create('shop.test', other)).body.error.code).toBe('ALREADY_EXISTS');
      expect((await other.call('GET', '/v1/dns/record/list?zone=shop.test')).status).toBe(404);
    });

    test('a record set of every type is set, listed in pages, exported and deleted there', async () => {
      const sent: readonly (readonly [name: string, type: string, values: readonly string[]])[] = [
        ['@', 'A', ['192.0.2.1', '192.0.2.2']],
        ['@', 'MX', ['10 mail.example.net', '20 mail.example.org']],
        ['@', 'CAA', ['0 issue "letsencrypt.org; a=b"']],
        ['*', 'AAAA', ['2001:db8::1']],
        ['www', 'CNAME', ['host.example.org']],
        ['_sip._tcp', 'SRV', ['10 5 5060 sip.example.org']],
        ['text', 'TXT', ['a "quoted" \\ word', 'ä'.repeat(300)]],
        ['sub', 'NS', ['ns.example.org']],
      ];
      for (const [name, type, values] of sent) {
        const { status, body } = await set('shop.test', name, type, values);
        expect(status, `${name} ${type} ${JSON.stringify(body)}`).toBe(200);
        expect(body.data).toMatchObject({ type, ttl: 120, values, updated_at: null });
      }
      const listed = await list('shop.test');
      const seen = listed.map((each: { name: string; type: string; values: string[] }) => [
        each.name,
        each.type,
        each.values.toSorted(),
      ]);
      const wanted = sent.map(([name, type, values]) => [
        name === '@' ? 'shop.test' : `${name}.shop.test`,
        type,
        values.toSorted(),
      ]);
      expect(seen.toSorted()).toEqual(wanted.toSorted());
      expect(await list('shop.test', '&type=TXT')).toHaveLength(1);
      const page = await owner.data('GET', '/v1/dns/record/list?zone=shop.test&limit=3');
      expect(page.items).toHaveLength(3);
      const next = await owner.data('GET', `/v1/dns/record/list?zone=shop.test&limit=3&cursor=${page.next_cursor}`);
      expect(next.items[0].name >= page.items[2].name).toBe(true);
      const { content } = await owner.data('GET', '/v1/dns/zone/export/shop.test');
      expect(content).toContain('_sip._tcp 120 IN SRV 10 5 5060 sip.example.org.');
      expect(content).toContain(`@ 3600 IN NS ${there.nameServers('shop.test')[0]}.`);
      const detail = await owner.data('GET', '/v1/dns/zone/get/shop.test');
      expect(detail).toMatchObject({ vendor: 'elsewhere', name_servers: there.nameServers('shop.test') });
      for (const [name, type] of sent) {
        expect(
          await owner.data(
            'DELETE',
            `/v1/dns/record/delete?zone=shop.test&name=${encodeURIComponent(name)}&type=${type}`,
          ),
        ).toMatchObject({ deleted: true });
      }
      expect(await list('shop.test')).toEqual([]);
      expect(await owner.data('DELETE', '/v1/dns/record/delete?zone=shop.test&name=www')).toMatchObject({
        deleted: false,
        status: 'not_found',
      });
    });

    test('what must not stand there is refused before anything changes', async () => {
      await set('shop.test', 'alias', 'CNAME', ['host.example.org']);
      for (const [name, type, value] of [
        ['alias', 'TXT', 'beside'],
        ['@', 'NS', 'ns.example.org'],
        ['x', 'A', '1.2.3'],
      ] as const) {
        expect((await set('shop.test', name, type, [value])).body.error?.code, name).toBe('VALIDATION_FAILED');
      }
      expect((await list('shop.test')).map(({ type }: { type: string }) => type)).toEqual(['CNAME']);
      // A CNAME gives way to others in one change.
      const replace = {
        zone: 'shop.test',
        replace: true,
        content: 'alias 60 IN A 192.0.2.7\n@ IN NS ns.other.test.\n',
      };
      expect(await owner.data('POST', '/v1/dns/zone/import', replace)).toEqual({
        zone: 'shop.test',
        imported: 1,
        left_out: 1,
      });
      expect(await list('shop.test')).toMatchObject([{ name: 'alias.shop.test', type: 'A', values: ['192.0.2.7'] }]);
      expect((await owner.data('GET', '/v1/dns/zone/get/shop.test')).name_servers).toEqual(
        there.nameServers('shop.test'),
      );
    });

    test('a call that is sent again under its key is done once', async () => {
      const body = {
        zone: 'shop.test',
        name: 'once',
        type: 'A',
        ttl: 300,
        values: ['192.0.2.1'],
        idempotency_key: 'once-1',
      };
      const first = await owner.call('PUT', '/v1/dns/record/set', body);
      await set('shop.test', 'once', 'A', ['192.0.2.9']);
      const again = await owner.call('PUT', '/v1/dns/record/set', body);
      expect([again.status, again.body.data]).toEqual([200, first.body.data]);
      expect(await list('shop.test', '&name=once')).toMatchObject([{ values: ['192.0.2.9'] }]);
    });

    test('writers at once to one name leave what one of them wanted, and to many names all', async () => {
      const replies = await Promise.all(
        [1, 2, 3, 4].map((last) => set('a.many.test', 'race', 'A', [`192.0.2.${last}`])),
      );
      expect(replies.some(({ status }) => status === 200)).toBe(true);
      const [{ values }] = await list('a.many.test', '&name=race');
      expect(values).toHaveLength(1);
      const many = await Promise.all(
        [1, 2, 3, 4, 5, 6].map((last) => set('a.many.test', `n${last}`, 'TXT', [`${last}`])),
      );
      expect(many.map(({ status }) => status)).toEqual(many.map(() => 200));
      expect(await list('a.many.test', '&type=TXT')).toHaveLength(6);
    });

    test('1,500 names are imported', async () => {
      const content = Array.from({ length: 1_500 }, (_, i) => `m${i} 300 IN TXT "${'x'.repeat(60)}"\n`).join('');
      expect(
        await owner.data('POST', '/v1/dns/zone/import', { zone: 'a.many.test', content, replace: true }),
      ).toMatchObject({ imported: 1_500 });
      const { record_count } = await owner.data('GET', '/v1/dns/zone/get/a.many.test');
      // The addresses of its own name servers stay.
      expect(record_count).toBe(maker === 'cloudflare' ? 1_500 : 1_502);
    });

    test("PowerDNS' API changes and shows it", async () => {
      const api = '/v1/dns/powerdns/api/v1/servers/localhost/zones/shop.test.';
      const call = (method: string, body?: unknown) =>
        client(bench.test.url)(method, api, body, { 'x-api-key': owner.secret });
      const change = (changetype: string, ...values: readonly string[]) => ({
        rrsets: [
          {
            name: '_acme-challenge.shop.test.',
            type: 'TXT',
            ttl: 120,
            changetype,
            records: values.map((content) => ({ content, disabled: false })),
          },
        ],
      });
      expect((await call('PATCH', change('REPLACE', '"one"', '"two"'))).status).toBe(204);
      const { body } = await call('GET');
      const proof = body.rrsets.find(({ name }: { name: string }) => name === '_acme-challenge.shop.test.');
      expect(proof.records.map(({ content }: { content: string }) => content).sort()).toEqual(['"one"', '"two"']);
      expect((await call('PATCH', change('DELETE'))).status).toBe(204);
      expect(await list('shop.test', '&name=_acme-challenge')).toEqual([]);
    });

    test.runIf(hasLego && maker !== 'cloudflare')('lego proves a domain whose zone is there', async () => {
      const made = await certificateByLego({
        domain: 'shop.test',
        url: bench.test.url,
        secret: owner.secret,
        nameServer: there.address,
      });
      expect(made.proved).toEqual(['*.shop.test', 'shop.test']);
      expect(await list('shop.test', '&name=_acme-challenge')).toEqual([]);
    });

    test('a zone that is deleted here stays there, and is free', async () => {
      const before = await list('a.many.test');
      expect(await owner.data('DELETE', '/v1/dns/zone/delete/a.many.test')).toMatchObject({ deleted: true });
      const other = await bench.owner();
      expect((await create('a.many.test', other)).status).toBe(200);
      const { items } = await other.data('GET', '/v1/dns/record/list?zone=a.many.test&limit=1');
      expect(items).toHaveLength(Math.min(1, before.length));
    });
  });
}
