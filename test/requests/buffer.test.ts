// Calls that wait to be written: an account that fails all the time loses its own rows, and a database that is away loses none.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { admission } from '../../src/core/admission.ts';
import { RequestLog } from '../../src/core/requests/request-log.ts';
import { requestsBefore, unkeptIn } from '../../src/core/requests/store.ts';
import { Database } from '../../src/db/database.ts';
import { loggedCall } from '../support/logged-call.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const bounds = (all: number, account: number) => ({
  all: { ...admission.all, loggedCalls: all },
  account: { ...admission.account, loggedCalls: account },
});

const filter = {
  fromMs: null,
  toMs: null,
  outcome: 'all',
  status: null,
  code: null,
  capability: null,
  callerId: null,
  entryForm: null,
  traceId: null,
} as const;

async function written(accountId: string): Promise<string[]> {
  const rows = await requestsBefore(service.core.db, accountId, null, {
    table: 'core.request_log',
    filter,
    limit: 100,
  });
  return rows.map(({ request_id: id }) => id).reverse();
}

const names = (count: number, of: string) => Array.from({ length: count }, (_, i) => `${of}${i}`);

test('beyond its share an account loses its own calls, but no write of its own, and the list can say how many', async () => {
  const { accountId } = await createTestAccount(service.core);
  const log = new RequestLog(service.core.db, bounds(100, 3));
  for (const name of names(5, 'a')) log.add(loggedCall(accountId, name));
  log.add(loggedCall(accountId, 'audit', true));
  await log.flush();
  expect(await written(accountId)).toEqual(['req_a1', 'req_a2', 'req_audit']);
  expect(await unkeptIn(service.core.db, accountId, 0, null)).toEqual({ dropped: 3, sampledOut: 0 });
});

test('where all have no room left, whoever has most gives way to whoever has less', async () => {
  const [loud, quiet] = [await createTestAccount(service.core), await createTestAccount(service.core)];
  const log = new RequestLog(service.core.db, bounds(4, 4));
  for (const name of names(4, 'l')) log.add(loggedCall(loud.accountId, name));
  for (const name of names(3, 'q')) log.add(loggedCall(quiet.accountId, name));
  await log.flush();
  expect(await written(loud.accountId)).toEqual(['req_l2', 'req_l3']);
  expect(await written(quiet.accountId)).toEqual(['req_q0', 'req_q1']);
  expect(await unkeptIn(service.core.db, loud.accountId, 0, null)).toEqual({ dropped: 2, sampledOut: 0 });
  expect(await unkeptIn(service.core.db, quiet.accountId, 0, null)).toEqual({ dropped: 1, sampledOut: 0 });
});

test('what a database that is away did not take is written once it is back, and once', async () => {
  const { accountId } = await createTestAccount(service.core);
  const away = new Database({ connection: service.core.connection });
  const log = new RequestLog(away, bounds(10, 10));
  log.add(loggedCall(accountId, 'kept'));
  await away.end();
  await expect(log.flush()).rejects.toThrow();
  const here = new RequestLog(service.core.db, bounds(10, 10));
  const once = loggedCall(accountId, 'once');
  here.add(once);
  await here.flush();
  here.add(once);
  await here.flush();
  expect(await written(accountId)).toEqual(['req_once']);
});
