import { expect, test } from 'vitest';
import { nameServers } from './name-servers.ts';
import { ConfigError, Variables } from './variables.ts';

const read = (env: Record<string, string>) => {
  const variables = new Variables(env);
  return { servers: nameServers(variables)?.map(({ host, port }) => `${host} ${port}`), variables };
};

test('one setting says which name servers are asked', () => {
  expect(read({}).servers).toBeUndefined();
  expect(read({ DNS_RESOLVERS: '192.0.2.1, 192.0.2.2:5353 2001:db8::1,[2001:db8::2]:54' }).servers).toEqual([
    '192.0.2.1 53',
    '192.0.2.2 5353',
    '2001:db8::1 53',
    '2001:db8::2 54',
  ]);
});

test('its earlier name still works, unless both are set; either is told', () => {
  const old = read({ DNS_SERVERS: '192.0.2.1:53' });
  expect(old.servers).toEqual(['192.0.2.1 53']);
  expect(old.variables.findRenamed()).toEqual([{ name: 'DNS_SERVERS', now: 'DNS_RESOLVERS', isUsed: true }]);
  const both = read({ DNS_SERVERS: '192.0.2.1', DNS_RESOLVERS: '192.0.2.2' });
  expect(both.servers).toEqual(['192.0.2.2 53']);
  expect(both.variables.findRenamed()).toEqual([{ name: 'DNS_SERVERS', now: 'DNS_RESOLVERS', isUsed: false }]);
  expect(both.variables.findMisspelt()).toEqual([]);
  expect(read({ DNS_RESOLVERS: '192.0.2.2', DNS_SERVERS: ' ' }).variables.findRenamed()).toEqual([]);
});

test.each(['here', '192.0.2.1:0', '192.0.2.1:65536', '2001:db8::1:53:x', 'fe80::1%eth0', '[192.0.2.1]:53'])(
  '%s is refused by the name of the variable that has it',
  (text) => {
    for (const name of ['DNS_RESOLVERS', 'DNS_SERVERS']) {
      expect(() => read({ [name]: `192.0.2.1,${text}` })).toThrow(ConfigError);
      expect(() => read({ [name]: `192.0.2.1,${text}` })).toThrow(name);
    }
  },
);

test('more than 16 are refused', () => {
  expect(() => read({ DNS_RESOLVERS: Array(17).fill('192.0.2.1').join() })).toThrow('DNS_RESOLVERS takes at most 16');
});
