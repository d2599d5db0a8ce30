// Nothing that the rules refuse ever sees a connection: checked at real listeners on loopback.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createOutboundClient } from '../../src/vendors/http/client.ts';
import { pinnedConnector } from '../../src/vendors/http/connector.ts';
import type { OutboundClient } from '../../src/vendors/http/port.ts';
import { listen, loopbackClient, OK, postTo, type Receiver } from './receivers.ts';

const PUBLIC = '93.184.215.14';
let four: Receiver;
let six: Receiver;
const clients: OutboundClient[] = [];

beforeAll(async () => {
  four = await listen({ host: '127.0.0.1', onRequest: (socket) => socket.write(OK) });
  // The same port on both, so that one URL list serves.
  six = await listen({ host: '::1', port: four.port, onRequest: (socket) => socket.write(OK) });
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(async () => {
  await Promise.all([four.close(), six.close()]);
});

function guarded(resolve: (host: string) => Promise<readonly string[]>): OutboundClient {
  const client = createOutboundClient({ allowPrivateTargets: [], resolve });
  clients.push(client);
  return client;
}

function touches(): number {
  return four.connections + six.connections;
}

describe('hosts that lead inside', () => {
  test.each(
    [
      'localhost localhost. LOCALHOST a.localhost 127.0.0.1 127.1 127.0.0.1. 0x7f.1 0x7f000001 2130706433 0177.0.0.1',
      '１２７.０.０.１ 127。0。0。1 %31%32%37.0.0.1 0 0.0.0.0 127.255.255.254 [::] [::1] [0:0:0:0:0:0:0:1] [::ffff:7f00:1]',
      '[::ffff:127.0.0.1] [::7f00:1] [64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe] [2002:7f00:1::] [fd00:ec2::254] 169.254.169.254',
      '100.100.100.200 168.63.129.16 user@127.0.0.1 example.com@127.0.0.1 127.0.0.1\t 127.0.\t0.1 127.0.0.1\n loop.example.com',
    ].flatMap((line) => line.split(' ')),
  )('%j is refused at register and at connect', async (host) => {
    const before = touches();
    const client = guarded(async () => ['127.0.0.1', '::1']);
    for (const url of [`https://${host}:${four.port}/`, `http://${host}:${four.port}/`, `https://${host}/`]) {
      await expect(client.checkUrl(url, 'url')).rejects.toMatchObject({ code: 'WEBHOOK_URL_REJECTED', param: 'url' });
      expect(await postTo(client, url)).toMatchObject({ kind: 'failed', code: 'refused' });
    }
    expect(touches()).toBe(before);
  });

  test('the listeners do answer whoever is allowed to reach them', async () => {
    const client = loopbackClient();
    clients.push(client);
    const before = touches();
    for (const host of ['127.0.0.1', '[::1]', '2130706433']) {
      expect(await postTo(client, `http://${host}:${four.port}/`)).toMatchObject({ kind: 'answered', status: 200 });
    }
    expect(touches()).toBeGreaterThanOrEqual(before + 2);
  });
});

describe('names that lead inside', () => {
  test('public at register, private at connect', async () => {
    const answers = [[PUBLIC], ['127.0.0.1']];
    const client = guarded(async () => answers.shift() ?? []);
    const before = touches();
    const url = `https://rebind.example.com:${four.port}/`;
    expect(await client.checkUrl(url, 'url')).toBeNull();
    expect(await postTo(client, url)).toMatchObject({ kind: 'failed', code: 'refused' });
    expect(touches()).toBe(before);
  });

  test('one private address among public ones refuses all, wherever it stands', async () => {
    const before = touches();
    for (const answer of [
      [PUBLIC, '127.0.0.1'],
      ['::1', PUBLIC],
      [PUBLIC, '::ffff:127.0.0.1'],
    ]) {
      const client = guarded(async () => answer);
      const url = `https://mixed.example.com:${four.port}/`;
      await expect(client.checkUrl(url, 'url')).rejects.toMatchObject({ detail: 'address' });
      expect(await postTo(client, url)).toMatchObject({ kind: 'failed', code: 'refused' });
    }
    expect(touches()).toBe(before);
  });

  test('the name is looked up once an attempt: the socket goes to the address that was checked', async () => {
    let lookUps = 0;
    const client = loopbackClient({
      resolve: async () => {
        lookUps += 1;
        return lookUps === 1 ? ['127.0.0.1'] : ['10.0.0.1'];
      },
    });
    clients.push(client);
    const before = four.connections;
    expect(await postTo(client, `http://once.example.com:${four.port}/`)).toMatchObject({ kind: 'answered' });
    expect([lookUps, four.connections]).toEqual([1, before + 1]);
    expect(await postTo(client, `http://once.example.com:${four.port}/`)).toMatchObject({ code: 'refused' });
    expect(four.connections).toBe(before + 1);
  });

  test('a refusal names the rule, never the address', async () => {
    const client = guarded(async () => ['10.11.12.13']);
    const outcome = await postTo(client, 'https://inside.example.com/');
    expect(JSON.stringify(outcome)).not.toContain('10.11');
    await expect(client.checkUrl('https://inside.example.com/', 'url')).rejects.toSatisfy(
      (error) => !JSON.stringify([error, String(error)]).includes('10.11'),
    );
  });
});

test('a name that gives no answer is accepted with a warning within the time, and fails at connect', async () => {
  const client = createOutboundClient({
    allowPrivateTargets: [],
    resolve: () => new Promise(() => undefined),
    limits: { resolveMs: 50, connectMs: 50 },
  });
  clients.push(client);
  expect(await client.checkUrl('https://nowhere.example.com/', 'url')).toContain('does not resolve');
  expect(await postTo(client, 'https://nowhere.example.com/')).toMatchObject({ kind: 'failed', code: 'dns' });
});

// Linux takes a connection to 0.0.0.0 to the loopback interface: the peer is then another one than was dialled.
test('a socket that ends at another address than the checked one is destroyed before a byte is sent', async () => {
  const receiver = await listen({ host: '127.0.0.1' });
  const pin = { secure: false, host: 'example.com', port: receiver.port, address: '0.0.0.0' };
  const error = await new Promise((resolve) => {
    pinnedConnector(pin, 1_000)({ hostname: '', protocol: 'http:', port: '' }, (...[failure]) => resolve(failure));
  });
  expect(error).toMatchObject({ code: 'refused' });
  expect(receiver.text).toBe('');
  await receiver.close();
});

test('redirects are answers, and are not followed', async () => {
  const client = loopbackClient();
  clients.push(client);
  const before = four.connections;
  for (const status of [301, 302, 303, 307, 308]) {
    const head = `HTTP/1.1 ${status} Moved\r\nLocation: http://127.0.0.1:${four.port}/\r\nContent-Length: 0\r\n\r\n`;
    const redirecting = await listen({ onRequest: (socket) => socket.write(head) });
    expect(await postTo(client, `http://127.0.0.1:${redirecting.port}/`)).toMatchObject({ kind: 'answered', status });
    await redirecting.close();
  }
  expect(four.connections).toBe(before);
});

test('proxy variables are ignored', async () => {
  const proxy = await listen({ onRequest: (socket) => socket.end(OK) });
  const script = `
    import { loopbackClient, postTo } from ${JSON.stringify(new URL('./receivers.ts', import.meta.url).href)};
    const client = loopbackClient();
    console.log((await postTo(client, 'http://127.0.0.1:${four.port}/')).kind);
    await client.close();`;
  const address = `http://127.0.0.1:${proxy.port}`;
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'];
  const env = {
    ...process.env,
    NODE_USE_ENV_PROXY: '1',
    NO_PROXY: '',
    ...Object.fromEntries(names.map((n) => [n, address])),
  };
  const before = four.connections;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { env });
  expect([await text(child.stdout), await text(child.stderr)]).toEqual(['answered\n', '']);
  expect([proxy.connections, four.connections]).toEqual([0, before + 1]);
  await proxy.close();
});
