// What another account has is as unknown as what never was: every page and every form of the console answers its names and ids as it
// answers those that nobody has, to the byte.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signedIn } from '../support/console.ts';
import { pages } from '../support/console-pages.ts';
import { addressOf, type Filled, fillAccount } from '../support/filled-account.ts';
import type { Visit } from '../support/page-visitor.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { LOCAL_TARGETS, Receiver } from '../webhooks/api-harness.ts';

let service: TestService;
let receiver: Receiver;
let owner: TestAccount;
let owned: Filled;
let unknown: Filled;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startTestService({ env: LOCAL_TARGETS }), Receiver.start()]);
  owner = await createTestAccount(service.core, 9.5);
  owned = await fillAccount(client(service.url, owner.secret), receiver.url('/hook'), 'mark');
  const others = Object.fromEntries(Object.entries(owned).map(([name, id]) => [name, another(id)]));
  // A key is one of a bucket, which is another.
  unknown = { ...others, object: owned.object } as unknown as Filled;
});
afterAll(async () => {
  await Promise.all([service?.stop(), receiver?.stop()]);
});

/** As long, and of the same kind: a name, or an id behind its prefix. */
function another(id: string): string {
  const start = id.indexOf('_') + 1;
  return id.slice(0, start) + [...id.slice(start)].reverse().join('');
}

/** All that is answered, but for what is another one at every answer. */
function whole({ status, headers, location, text }: Visit, id: string) {
  const always = ['date', 'content-length', 'x-request-id', 'traceparent', 'location'];
  const kept = [...headers]
    .filter(([name]) => !always.includes(name))
    .map(([name, value]) => [name, value.replace(/'nonce-[^']+'/, 'NONCE')]);
  const bytes = text
    .replaceAll(id, 'ID')
    .replaceAll(/\/live\?since=[\w%]+/g, 'SINCE')
    .replaceAll(/ nonce="[^"]+"/g, ' NONCE')
    .replaceAll(/name="form_key" value="\w+"/g, 'FORM_KEY')
    .replaceAll(/request <code>[\w-]+</g, 'REQUEST');
  return { status, location: location?.replaceAll(id, 'ID'), headers: kept, bytes };
}

const named = pages.filter(({ path, needs }) => path.includes('{') && !needs.id.startsWith('operator.'));
const lastOf = (path: string, template: string) =>
  decodeURIComponent(path.split('/')[template.split('/').findIndex((part) => part.startsWith('{')) + 1] ?? '');

test.each(named.map((page) => [page.name, page] as const))('%s', async (_, page) => {
  // One that has nothing yet: a form for a domain adds it, for anybody may prove it.
  const stranger = await signedIn(service.url, (await createTestAccount(service.core, 9.5)).secret);
  const ask = async (filled: Filled) => {
    const path = addressOf(page, filled);
    const id = lastOf(path, page.path);
    const shown = await stranger.get(path);
    const formToken = await stranger.formToken('/console');
    const sent: unknown[] = [];
    for (const act of Object.keys(page.acts ?? {})) {
      const form_key = crypto.randomUUID().replaceAll('-', '');
      const answer = await stranger.post(path, { form_token: formToken, form_key, act, typed: id });
      sent.push([act, whole(answer, id)]);
    }
    return { shown: whole(shown, id), sent };
  };
  // The first page of a module that somebody opens is noted for the navigation.
  await stranger.get(addressOf(page, unknown));
  const [foreign, none] = [await ask(owned), await ask(unknown)];
  // Every account has every channel.
  const status = page.name === 'realtime_channel' ? 200 : 404;
  expect(foreign.shown.status).toBe(status);
  expect(foreign).toEqual(none);
  // Its owner has it all the same, also after the forms.
  const own = await signedIn(service.url, owner.secret);
  expect((await own.get(addressOf(page, owned))).status).toBe(200);
  expect((await own.get(addressOf(page, unknown))).status).toBe(status);
});
