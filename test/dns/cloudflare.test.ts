// Zones at Cloudflare: what is sent in the shapes of its API, what others do there, and how it refuses.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CloudflareDouble, startCloudflare } from '../support/cloudflare.ts';
import type { DnsBench, DnsOwner } from './harness.ts';
import { startWithVendors } from './vendors-harness.ts';

let double: CloudflareDouble;
let bench: DnsBench;
let owner: DnsOwner;

/** A service without a name server of its own: zones go to the first vendor that may hold them. */
async function start(): Promise<void> {
  double = await startCloudflare(['shop.test', 'mine.test']);
  const entry = { adapter: 'cloudflare', base_url: double.baseUrl, api_key: '${TOKEN}' };
  bench = await startWithVendors(
    [
      { id: 'others', ...entry, zones: ['shop.test', 'mine.test'], accounts: ['acct_0'], priority: 1 },
      { id: 'cloudflare', ...entry, zones: ['shop.test'], priority: 2 },
    ],
    { env: { TOKEN: double.key, DNS_PORT: '' } },
  );
  owner = await bench.owner();
}
async function stop(): Promise<void> {
  await bench.stop();
  await double.stop();
}

const set = (name: string, type: string, values: readonly string[], ttl = 120) =>
  owner.call('PUT', '/v1/dns/record/set', { zone: 'shop.test', name, type, values, ttl });
const list = async (name: string) => (await owner.data('GET', `/v1/dns/record/list?zone=shop.test&name=${name}`)).items;
const stored = (name: string) => double.zones.get('shop.test')?.filter((each) => each.name === `${name}.shop.test`);

describe('a zone at Cloudflare', () => {
  beforeAll(start);
  afterAll(stop);

  test('is where a zone goes that nobody names a vendor for, when there is no name server here', async () => {
    const atVendor = await owner.call('POST', '/v1/dns/zone/create', { zone: 'shop.test' });
    expect(atVendor.body.data).toMatchObject({
      vendor: 'cloudflare',
      name_servers: ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'],
    });
    expect(atVendor.body.metadata.warnings).toBeUndefined();
    // The entry that lists it is for another account.
    const refused = await owner.call('POST', '/v1/dns/zone/create', { zone: 'mine.test', vendor: 'others' });
    expect([refused.status, refused.body.error.param]).toEqual([400, 'vendor']);
    const own = await owner.call('POST', '/v1/dns/zone/create', { zone: 'mine.test' });
    expect(own.body.data.vendor).toBe('embedded');
    expect(own.body.metadata.warnings).toEqual([expect.stringMatching(/^Nothing answers for the zone.*DNS_PORT/)]);
    expect(await owner.data('GET', '/v1/dns/zone/list')).toMatchObject({
      items: [{ vendor: 'embedded' }, { vendor: 'cloudflare' }],
    });
  });

  test('gets records in its shapes', async () => {
    for (const [name, type, value, wanted] of [
      ['a', 'A', '192.0.2.1', { content: '192.0.2.1', proxied: false, ttl: 120 }],
      ['m', 'MX', '10 mail.example.org', { content: 'mail.example.org', priority: 10 }],
      [
        's',
        'SRV',
        '1 2 443 sip.example.org',
        { data: { priority: 1, weight: 2, port: 443, target: 'sip.example.org' } },
      ],
      ['c', 'CAA', '0 issue "a.test; x=y"', { data: { flags: 0, tag: 'issue', value: 'a.test; x=y' } }],
      ['t', 'TXT', 'say "hi"', { content: '"say \\"hi\\""' }],
    ] as const) {
      expect((await set(name, type, [value])).status, type).toBe(200);
      expect(stored(name)).toMatchObject([{ type, ...wanted }]);
    }
  });

  test('keeps to its times to live, and says so', async () => {
    expect((await set('short', 'A', ['192.0.2.1'], 1)).body.data.ttl).toBe(60);
    expect((await set('long', 'A', ['192.0.2.1'], 604_800)).body.data.ttl).toBe(86_400);
    expect(await list('long')).toMatchObject([{ ttl: 86_400 }]);
  });

  test('shows what others set there, and leaves what they proxy proxied', async () => {
    double.add('shop.test', { name: 'web', type: 'A', content: '192.0.2.1', proxied: true, ttl: 1 });
    double.add('shop.test', { name: 'web', type: 'HTTPS', content: '1 . alpn="h2"', data: {} });
    expect(await list('web')).toMatchObject([{ type: 'A', ttl: 300, values: ['192.0.2.1'] }]);
    await set('web', 'A', ['192.0.2.1', '192.0.2.2']);
    expect(stored('web')).toMatchObject([
      { content: '192.0.2.1', proxied: true },
      { type: 'HTTPS' },
      { content: '192.0.2.2', proxied: false },
    ]);
    await owner.data('POST', '/v1/dns/zone/import', {
      zone: 'shop.test',
      content: 'x 60 IN A 192.0.2.1',
      replace: true,
    });
    expect(double.zones.get('shop.test')?.map(({ type }) => type)).toEqual(['HTTPS', 'A']);
  });

  test('does again what others were in the way of, and reads until it is as wanted', async () => {
    await set('race', 'A', ['192.0.2.1']);
    double.beforeNextBatch(() => double.zones.set('shop.test', []));
    expect((await set('race', 'A', ['192.0.2.2'])).status).toBe(200);
    double.beforeNextBatch(() => double.add('shop.test', { name: 'race', type: 'A', content: '192.0.2.9', ttl: 120 }));
    expect((await set('race', 'A', ['192.0.2.3'])).status).toBe(200);
    expect(stored('race')?.map(({ content }) => content)).toEqual(['192.0.2.3']);
  });

  test('a set that is there already is read, and nothing is sent', async () => {
    const from = double.calls.length;
    expect((await set('race', 'A', ['192.0.2.3'])).status).toBe(200);
    expect(double.calls.slice(from).filter((call) => call.startsWith('POST'))).toEqual([]);
  });

  test.each([
    [
      'its key is refused',
      { status: 403, body: { success: false, errors: [{ code: 10_000, message: 'Authentication error' }] } },
      502,
      'VENDOR_AUTH_ERROR',
    ],
    [
      'it refuses the record',
      { status: 400, body: { success: false, errors: [{ code: 9_999, message: 'Not \u0000 so.' }] } },
      400,
      'VALIDATION_FAILED',
    ],
    ['a proxy answers', { status: 200, body: '<html>' }, 502, 'VENDOR_ERROR'],
    ['it fails', { status: 500, body: {} }, 503, 'VENDOR_DOWN'],
    ['it closes the connection', null, 503, 'VENDOR_DOWN'],
    [
      'it takes no more',
      { status: 429, body: { success: false, errors: [] }, headers: { 'retry-after': '7' } },
      429,
      'RATE_LIMIT_VENDOR',
    ],
  ] as const)('%s: the call says so, and nothing has changed', async (_, answer, status, code) => {
    double.answerNext('/batch', answer);
    const before = JSON.stringify(double.zones.get('shop.test'));
    const refused = await set('bad', 'A', ['192.0.2.1']);
    expect([refused.status, refused.body.error.code]).toEqual([status, code]);
    expect(refused.text).not.toContain(double.key);
    if (code === 'VALIDATION_FAILED') expect(refused.body.error.message).toBe('Cloudflare refuses it: Not so.');
    if (code === 'RATE_LIMIT_VENDOR') expect(refused.body.error.retry_after_ms).toBe(7_000);
    expect(JSON.stringify(double.zones.get('shop.test'))).toBe(before);
  });
});
