// A service that dies between a person's yes and the device's question, or in the middle of it: the device gets its key from another one, and
// there is one key.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listKeys } from '../../src/core/keys/store.ts';
import { approveDevice } from '../../src/people/devices/approve.ts';
import { readUserCode } from '../../src/people/devices/codes.ts';
import { findWaiting } from '../../src/people/devices/devices.ts';
import { guessersOf } from '../../src/people/devices/guesses.ts';
import { createPlace, type Place, startProcess } from '../support/process.ts';
import { createTestAccount, SECRETS_KEY, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let place: Place;
beforeAll(async () => {
  // own service: reads the whole database
  service = await startTestService();
  place = await createPlace({ DATABASE_URL: service.database.url, SECRETS_KEY, TEST_CLOCK: 'on' });
});
afterAll(async () => {
  await place?.remove();
  await service?.stop();
});

async function post(url: string, fields: Record<string, string>) {
  return (await fetch(url, { method: 'POST', body: new URLSearchParams({ client_id: 'agent', ...fields }) })).json();
}

test('killed after the approval, or while it answers: one key, fetched elsewhere', async () => {
  const { core } = service;
  const account = await createTestAccount(core);
  const child = await startProcess(place);
  const asked = [1, 2, 3].map(() => post(`${child.url}/oauth/device_authorization`, { scope: 'queue' }));
  const started = await Promise.all(asked);
  for (const { user_code } of started) {
    const device = await findWaiting(core, readUserCode(user_code), guessersOf('a person', 'here'));
    const principal = await core.keys.find(account.secret);
    if (device === null || typeof device === 'number' || typeof principal === 'string') throw new Error('nobody waits');
    expect(await approveDevice(core, principal, device, { scopes: ['queue'], lifetimeMs: null, cap: null })).toBeNull();
  }
  const grant = (device_code: string) => ({ grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code });
  // Two of them ask; whether they are answered before it dies, or how far it gets, is all the same.
  const cut = started
    .slice(1)
    .map(({ device_code }) => post(`${child.url}/oauth/token`, grant(device_code)).catch(() => null));
  await child.end('SIGKILL');
  const before = await Promise.all(cut);
  const after = await Promise.all(
    started.map(({ device_code }) => post(`${service.url}/oauth/token`, grant(device_code))),
  );
  before.forEach((answer, i) => {
    if (answer !== null) expect(answer.access_token).toBe(after[i + 1].access_token);
  });
  const keys = await listKeys(core.db, account.accountId);
  expect(after.map(({ key_id }) => key_id).sort()).toEqual(
    keys
      .filter(({ name }) => name === 'agent')
      .map(({ keyId }) => keyId)
      .sort(),
  );
  expect(new Set(after.map(({ access_token }) => access_token)).size).toBe(3);
});
