// Support begins with a request_id: the operator finds the call, of whatever account it is.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

let service: TestService;
beforeAll(async () => {
  // own service: reads the whole database
  service = await startTestService();
});
afterAll(() => service?.stop());

function doctor(id: string): Promise<{ readonly code: number; readonly stdout: string }> {
  const env = { PATH: process.env.PATH, DATABASE_URL: service.database.url };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, 'doctor', '--request', id, '--json'], { env }, (error, stdout) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout }),
    );
  });
}

test('the doctor shows a call of the request log, and says when it is not there', async () => {
  const { accountId, secret } = await createTestAccount(service.core);
  const { request_id: id } = (await client(service.url, secret)('GET', '/v1/queue/get/none')).body.error;
  await service.core.requests.flush();
  const [found, missing] = await Promise.all([doctor(id), doctor('req_none')]);
  expect(found.code).toBe(0);
  expect(JSON.parse(found.stdout)).toMatchObject({ found: true, account_id: accountId, code: 'QUEUE_NOT_FOUND' });
  expect([missing.code, missing.stdout]).toEqual([1, '{"found":false}\n']);
});
