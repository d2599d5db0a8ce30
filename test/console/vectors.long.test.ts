// Collections in the console: made, queried by an embedding that was pasted or taken from a vector, deleted by their name.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectDone, expectSoundPages, openConsole, press, sendForm, signedIn, typeInto } from '../support/console.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

const HOSTILE = '<img src=x onerror=alert(1)>"\u202e'.padEnd(150, 'w');
let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
let other: TestAccount;
let call: Client;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  account = await createTestAccount(service.core, 5);
  other = await createTestAccount(service.core, 5);
  call = client(service.url, account.secret);
  await call('POST', '/v1/vector/collection/create', { collection: 'notes', dimension: 3 });
  const vectors = [
    { id: 'near', embedding: [1, 0, 0], metadata: { title: HOSTILE, text: HOSTILE } },
    { id: HOSTILE.slice(0, 60), embedding: [0, 1, 0], metadata: { lang: 'en' } },
  ];
  expect((await call('POST', '/v1/vector/upsert', { collection: 'notes', vectors })).status).toBe(200);
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

test('is sound, narrow and dark', async () => {
  await expectSoundPages(chromium.browser, service.url, account.secret, [
    ['vectors', 'Vectors'],
    ['vectors/notes', 'notes'],
    ['vectors/notes/query', 'notes'],
    ['vectors/notes/query?id=none', 'notes'],
    ['vectors/notes/settings', 'notes'],
    ['vectors/notes?cursor=none', 'notes'],
    ['vectors/notes/delete', 'Delete notes'],
    ['vectors/none', 'There is no such page'],
  ]);
  await expectSoundPages(chromium.browser, service.url, other.secret, [['vectors', 'Vectors']]);
});

test('by keyboard alone what is near a vector is found by taking its embedding, in two steps', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await page.goto(`${service.url}/console/vectors/notes`);
  await press(page, 'tbody a:has-text("near")');
  await expect.poll(() => page.inputValue('#query-embedding')).toBe('[1,0,0]');
  await press(page, 'form:has(#query-embedding) button');
  await expect.poll(() => page.textContent('h1')).toBe('Matches');
  expect(await page.textContent('tbody th')).toBe('near');
  expect(await page.textContent('tbody td')).toBe('1.000000');
  await typeInto(page, '#query-embedding', '0 1 0');
  await typeInto(page, '#query-filter', '{"lang":"en"}');
  await press(page, 'form:has(#query-embedding) button');
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  expect(faults).toEqual([]);
});

test('by keyboard alone a collection is made, and deleted by its name', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await page.goto(`${service.url}/console/vectors`);
  await press(page, 'main a:has-text("New collection")');
  await typeInto(page, '#create-collection', 'typed');
  await typeInto(page, '#create-dimension', '8');
  await page.keyboard.press('Enter');
  await expectDone(page, 'created');
  expect((await call('GET', '/v1/vector/collection/get?collection=typed')).body.data.dimension).toBe(8);
  await press(page, '.pages a:has-text("Settings")');
  await press(page, 'main a:has-text("Delete")');
  await typeInto(page, '#delete-typed', 'typed');
  await page.keyboard.press('Enter');
  await expectDone(page, 'deleted');
  expect((await call('GET', '/v1/vector/collection/get?collection=typed')).status).toBe(404);
  expect(faults).toEqual([]);
});

test('a query that is refused keeps what was typed and says why at its field', async () => {
  const visitor = await signedIn(service.url, account.secret);
  for (const [fields, kept] of [
    [{ embedding: '1 2', filter: '' }, '1 2'],
    [{ embedding: '1 2 x', filter: '' }, '1 2 x'],
    [{ embedding: '...', filter: '' }, '...'],
    [{ embedding: '1 2 3', filter: '{' }, '1 2 3'],
  ] as const) {
    const refused = await sendForm(visitor, '/console/vectors/notes/query', 'query', { top_k: '5', ...fields });
    expect(
      [refused.status, refused.text.includes(`\n${kept}</textarea>`), /class="fault"/.test(refused.text)],
      kept,
    ).toEqual([400, true, true]);
  }
});

test('a collection is made and deleted without scripts, the latter by its name only', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const made = await sendForm(visitor, '/console/vectors', 'create', {
    collection: 'new',
    dimension: '4',
    metric: 'euclidean',
  });
  expect([made.status, made.location]).toEqual([303, '/console/vectors/new?done=vectors.create']);
  const get = () => call('GET', '/v1/vector/collection/get?collection=new');
  expect((await get()).body.data).toMatchObject({ dimension: 4, metric: 'euclidean' });
  const page = '/console/vectors/new/delete';
  expect((await sendForm(visitor, page, 'delete', { typed: 'ne' })).status).toBe(400);
  expect((await get()).status).toBe(200);
  expect((await sendForm(visitor, page, 'delete', { typed: 'new' })).location).toBe(
    '/console/vectors?done=collection_delete.delete',
  );
  expect((await get()).status).toBe(404);
});

test('a collection of another account is as unknown as one that never was', async () => {
  const visitor = await signedIn(service.url, other.secret);
  const [foreign, random] = await Promise.all(
    ['notes', 'random'].map((name) => visitor.get(`/console/vectors/${name}`)),
  );
  expect([foreign?.status, random?.status]).toEqual([404, 404]);
  const main = (text = '') => /<main[\s\S]*?<footer/.exec(text)?.[0];
  expect(main(foreign?.text)).toContain('There is no such page');
  expect(main(foreign?.text)).toBe(main(random?.text));
});
