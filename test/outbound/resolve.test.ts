// The default look-up against a real name server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOutboundClient } from '../../src/vendors/http/client.ts';
import { systemResolve } from '../../src/vendors/http/resolve.ts';
import { type NameServer, nameServer } from './name-server.ts';
import { listen, loopbackClient, OK, postTo } from './receivers.ts';

let dns: NameServer;

beforeAll(async () => {
  dns = await nameServer({
    'both.example.com': { A: ['93.184.215.14', '93.184.215.15'], AAAA: ['2606:4700::1111'] },
    'four.example.com': { A: ['93.184.215.14'], AAAA: [] },
    'six.example.com': { A: 'not found', AAAA: ['2606:4700::1111'] },
    'half.example.com': { A: ['93.184.215.14'], AAAA: 'failed' },
    'slow.example.com': { A: ['93.184.215.14'], AAAA: 'silent' },
    'mixed.example.com': { A: ['93.184.215.14'], AAAA: ['::1'] },
    'inside.example.com': { A: ['127.0.0.1'], AAAA: [] },
    'dead.example.com': { A: 'silent', AAAA: 'silent' },
  });
});
afterAll(() => dns.close());

function resolve(host: string): Promise<readonly string[]> {
  return systemResolve(false, [dns.server])(host);
}

describe('addresses of a name', () => {
  test.each([
    ['both.example.com', ['93.184.215.14', '93.184.215.15', '2606:4700::1111']],
    ['four.example.com', ['93.184.215.14']],
    ['six.example.com', ['2606:4700::1111']],
    ['half.example.com', ['93.184.215.14']],
  ])('%s: IPv4 first, and one family is enough', async (host, expected) => {
    expect([...(await resolve(host))].sort()).toEqual([...expected].sort());
    expect((await resolve(host))[0]).toBe(expected.find((address) => address.startsWith('93')) ?? expected[0]);
  });

  test('a family that never answers is not waited for', async () => {
    expect(await resolve('slow.example.com')).toEqual(['93.184.215.14']);
  });

  test('a name that does not exist is an error', async () => {
    await expect(resolve('none.example.com')).rejects.toThrow();
  });

  test('a burst of look-ups of one name asks once', async () => {
    const burst = systemResolve(false, [dns.server]);
    const before = dns.asked.length;
    await Promise.all(Array.from({ length: 50 }, () => burst('both.example.com')));
    expect(dns.asked.slice(before).sort()).toEqual(['both.example.com A', 'both.example.com AAAA']);
  });

  test('names of the hosts file are for services that allow private targets', async () => {
    const system = systemResolve(true, [dns.server]);
    expect(await system('localhost')).toContain('127.0.0.1');
    expect(await system('both.example.com')).toContain('93.184.215.14');
  });
});

describe('the client on top of it', () => {
  const guarded = () => createOutboundClient({ allowPrivateTargets: [], resolve: systemResolve(false, [dns.server]) });

  test.each(['mixed.example.com', 'inside.example.com'])('%s is refused at register and at connect', async (host) => {
    const client = guarded();
    await expect(client.checkUrl(`https://${host}/`, 'url')).rejects.toMatchObject({ detail: 'address' });
    expect(await postTo(client, `https://${host}/`)).toMatchObject({ kind: 'failed', code: 'refused' });
  });

  test('a dead name server is not waited for for ever at register', async () => {
    expect(await guarded().checkUrl('https://dead.example.com/', 'url')).toContain('dead.example.com');
  });

  test('a name that leads to an allowed address is reached by it', async () => {
    const receiver = await listen({ onRequest: (socket) => void socket.write(OK) });
    const client = loopbackClient({ resolve: systemResolve(true, [dns.server]) });
    const outcome = await postTo(client, `http://inside.example.com:${receiver.port}/`);
    expect(outcome).toMatchObject({ kind: 'answered', status: 200 });
    expect(receiver.text).toContain(`host: inside.example.com:${receiver.port}`);
    await client.close();
    await receiver.close();
  });
});
