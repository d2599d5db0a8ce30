// Who may only look at a thing is shown no form that changes it and no way to what ends it, on any page of it; its owner finds both.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { personSession } from '../support/console.ts';
import { pages } from '../support/console-pages.ts';
import { addressOf, type Filled, fillAccount } from '../support/filled-account.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { LOCAL_TARGETS, Receiver } from '../webhooks/api-harness.ts';

let service: TestService;
let receiver: Receiver;
let filled: Filled;
const sessions = { owner: '', viewer: '' };
beforeAll(async () => {
  [service, receiver] = await Promise.all([startTestService({ env: LOCAL_TARGETS }), Receiver.start()]);
  const { accountId, secret } = await createTestAccount(service.core, 9.5);
  filled = await fillAccount(client(service.url, secret), receiver.url('/hook'), 'mark');
  for (const role of ['owner', 'viewer'] as const) {
    const person = { accountId, email: `${role}@example.org`, name: role, role };
    sessions[role] = await personSession(service.core, person);
  }
});
afterAll(async () => {
  await Promise.all([service?.stop(), receiver?.stop()]);
});

async function visit(path: string, who: keyof typeof sessions): Promise<{ status: number; main: string }> {
  const answer = await fetch(service.url + path, { headers: { cookie: `qm_session=${sessions[who]}` } });
  const text = await answer.text();
  return { status: answer.status, main: /<main[\s\S]*<\/main>/.exec(text)?.[0] ?? '' };
}

/** The page of a thing, those below it, and the one that deletes it: `/queues/{name}/delete`. */
const deletions = pages.filter(({ path }) => path.endsWith('}/delete'));
const pagesOf = (deletion: string) => {
  const one = deletion.slice(0, -'/delete'.length);
  return pages.filter(({ path }) => path === one || path === `${one}/settings`);
};

test('things can be deleted', () => expect(deletions.length).toBeGreaterThanOrEqual(10));

test.each(deletions.map((page) => [page.name, page] as const))('%s', async (_, page) => {
  const address = addressOf(page, filled);
  const shown = pagesOf(page.path);
  expect(shown.length).toBeGreaterThan(0);
  let ways = 0;
  for (const each of shown) {
    const path = addressOf(each, filled);
    const [owner, viewer] = await Promise.all([visit(path, 'owner'), visit(path, 'viewer')]);
    expect([each.name, owner.status, viewer.status]).toEqual([each.name, 200, 200]);
    expect(viewer.main, each.name).not.toContain('method="post"');
    expect(viewer.main, each.name).not.toContain('danger');
    if (owner.main.includes(`href="${address}"`)) ways += 1;
  }
  expect(ways).toBe(1);
  expect((await visit(address, 'owner')).main).toContain('name="typed"');
  expect((await visit(address, 'viewer')).status).toBe(403);
});
