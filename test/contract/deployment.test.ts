// Texts say what holds on this deployment: what its operator has set, and not what would hold elsewhere.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { capabilities } from '../support/capabilities.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

const settings: Record<string, Record<string, string>> = {
  plain: { RATE_LIMITS: 'on', ALLOW_PRIVATE_TARGETS: '', ALLOW_PRIVATE_SOURCES: '' },
  set: {
    RATE_LIMITS: 'off',
    REGION: 'china',
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8, fd00::/8',
    ALLOW_PRIVATE_SOURCES: '10.0.0.0/8',
  },
};
const SOURCES = 'or to 10.0.0.0/8, which';
const NETWORKS = '127.0.0.0/8, fd00::/8';
const REFUSED = 'private, loopback and other special ones are refused.';
const callers = capabilities.filter(({ errors }) => errors.includes('WEBHOOK_URL_REJECTED')).map(({ id }) => id);

describe.each(Object.entries(settings))('with the settings %s', (name, env) => {
  const isSet = name === 'set';
  const region = isSet ? 'china' : 'western';
  let service: TestService;
  let call: Client;
  beforeAll(async () => {
    service = await startTestService({ env });
    call = client(service.url, (await createTestAccount(service.core)).secret);
  });
  afterAll(() => service.stop());

  test.each(callers)('%s says where its URL may lead, and the service keeps to it', async (id) => {
    const texts = [
      (await call('GET', `/v1/discovery/${id}`)).body.data.description,
      (await call('GET', `/docs/capabilities/${id}`)).text,
    ];
    for (const text of texts) {
      expect(text.includes(NETWORKS)).toBe(isSet);
      expect(text.includes(REFUSED)).toBe(!isSet);
    }
    const webhook = { url: 'http://127.0.0.1:9/', events: ['queue.dlq'] };
    const reply = await call('POST', '/v1/account/webhooks/register', webhook);
    expect(reply.status).toBe(isSet ? 200 : 400);
  });

  test.each(['/llms.txt', '/v1/discovery/web.fetch', '/docs/capabilities/web.fetch'])(
    '%s says where what is read may lie',
    async (path) => expect((await call('GET', path)).text.includes(SOURCES)).toBe(isSet),
  );

  test.each(['/llms.txt', '/v1/openapi.json', '/.well-known/quartermaster.json'])('so does %s', async (path) => {
    const { text } = await call('GET', path);
    expect([text.includes(NETWORKS), text.includes(REFUSED)]).toEqual([isSet, !isSet]);
  });

  test('regions are those that exist here', async () => {
    const { data } = (await call('GET', '/v1/discovery')).body;
    expect(data.regions).toEqual([region]);
    expect(new Set(data.capabilities.flatMap(({ regions }: { regions: string[] }) => regions))).toEqual(
      new Set([region]),
    );
    expect((await call('GET', '/.well-known/quartermaster.json')).body.regions).toEqual([region]);
    expect((await call('GET', '/docs/capabilities/queue.publish')).text).toContain(`<dt>Region</dt><dd>${region}</dd>`);
  });

  test('ways in are those that exist here', async () => {
    const { components } = (await call('GET', '/v1/openapi.json')).body;
    const { body } = await call('GET', '/v1/account/balance');
    expect(components.schemas.Metadata.properties.entry_form.enum).toEqual([
      body.metadata.entry_form,
      (await call('GET', '/v1/videos')).status === 200 ? 'openai_compat' : 'none',
      // Asked by GET they say so only where they are.
      (await call('GET', '/v1/messages')).status === 405 ? 'anthropic_compat' : 'none',
      (await call('GET', '/mcp')).status === 405 ? 'mcp' : 'none',
      (await call('GET', '/console')).status === 404 ? 'none' : 'console',
      // At ports of their own.
      'smtp',
      'proxy',
    ]);
  });

  test('llms.txt says whether rates are limited', async () => {
    const { text } = await call('GET', '/llms.txt');
    expect(text.includes('Rates are not limited here.')).toBe(isSet);
  });
});
