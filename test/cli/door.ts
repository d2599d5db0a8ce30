// A service with an account, and a door before it that counts what it lets through; `home` runs the real command against the door.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createQmHome, type QmHome } from '../support/qm.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

export interface Door {
  readonly service: TestService;
  readonly account: TestAccount;
  /** Not through the door. */
  readonly call: Client;
  readonly url: string;
  readonly home: QmHome;
  /** `GET /v1/queue/list`, in the order of arrival. */
  readonly asked: string[];
  stop(): Promise<void>;
}

/** The account has a queue `jobs`. What the service offers is in the cache of `home` already. */
export async function openDoor(): Promise<Door> {
  const service = await startTestService({ env: { ROLES: 'web,render' } });
  const account = await createTestAccount(service.core, 5);
  const call = client(service.url, account.secret);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    const passed = request(service.url + req.url, { method: req.method, headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(res);
    });
    res.once('close', () => passed.destroy());
    passed.once('error', () => res.destroy());
    req.pipe(passed);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const home = createQmHome({ QM_URL: url, QM_KEY: account.secret });
  const stop = async () => {
    await home.remove();
    server.closeAllConnections();
    server.close();
    await service.stop();
  };
  const first = await home.run(['call', 'queue.list']);
  if (first.code !== 0) throw new Error(first.stderr);
  return { service, account, call, url, home, asked, stop };
}
