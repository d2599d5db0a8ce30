// Examples say that the service is not there, and end.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../support/process.ts';

/** An address where nothing listens. */
async function closed(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

test('where nothing answers, an example says so and what to do, and ends with 1', async () => {
  const url = await closed();
  const env = { PATH: process.env.PATH ?? '', QM_URL: url, QM_KEY: 'none', QM_WAIT_SECONDS: '0.2' };
  const program = join(PROJECT, 'examples/find-text/find.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'some words'], { env, encoding: 'utf8' });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toContain(`${url} cannot be reached (ECONNREFUSED): trying again for 0.2 s`);
  expect(stderr).toContain(`Quartermaster does not answer at ${url}. Start it with \`npm start\`, or set QM_URL`);
});
