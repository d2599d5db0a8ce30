// What a key may do, as the console's forms ask for it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendForm, signedIn } from '../support/console.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

test('what is left empty in a form gives nothing: everything is a choice of its own', async () => {
  const { secret } = await createTestAccount(service.core, 1);
  const [visitor, owner] = [await signedIn(service.url, secret), client(service.url, secret)];
  const keys = async () => (await owner('GET', '/v1/account/keys/list')).body.data.items;
  const made = (
    await owner('POST', '/v1/account/keys/create', { name: 'narrow', scopes: ['queue:read', 'vector.query'] })
  ).body.data;
  const page = `/console/keys/${made.key_id}`;
  for (const [path, act] of [
    ['/console/keys', 'create'],
    [page, 'narrow'],
  ] as const) {
    const cleared = await sendForm(visitor, path, act, { name: 'narrow', access: 'chosen', scope: '', scopes: ' ' });
    expect([cleared.status, cleared.text.includes(`id="${act}-scopes-fault"`)]).toEqual([400, true]);
  }
  expect((await keys()).map((key: { scopes: unknown }) => key.scopes)).toEqual([['queue:read', 'vector.query'], null]);
  const { text } = await visitor.get(page);
  expect(text).toMatch(/<option value="queue:read" selected>/);
  expect(text).toMatch(/id="narrow-scopes"[^>]*value="vector.query"/);
  expect(text).toMatch(/value="chosen" checked/);
  await sendForm(visitor, page, 'narrow', { name: 'wide', access: 'all', scope: 'queue:read', scopes: '' });
  expect((await keys())[0]).toMatchObject({ name: 'wide', scopes: null });
  expect((await visitor.get(page)).text).toMatch(/value="all" checked/);
});

test('presets give what they say: reading in every module, or one module', async () => {
  const { secret } = await createTestAccount(service.core, 1);
  const [visitor, owner] = [await signedIn(service.url, secret), client(service.url, secret)];
  const newest = async () => (await owner('GET', '/v1/account/keys/list')).body.data.items[0];
  const made = async (fields: Record<string, string>) =>
    expect((await sendForm(visitor, '/console/keys', 'create', { scope: 'vector:write', ...fields })).status).toBe(200);
  await made({ name: 'reads', access: 'read' });
  const { key_id: id, scopes } = await newest();
  expect([scopes.includes('queue:read'), scopes.every((scope: string) => scope.endsWith(':read'))]).toEqual([
    true,
    true,
  ]);
  expect((await visitor.get(`/console/keys/${id}`)).text).toMatch(/value="read" checked/);
  await made({ name: 'one', access: 'one', one: 'queue:write' });
  expect((await newest()).scopes).toEqual(['queue:write']);
});
