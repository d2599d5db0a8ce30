import { expect, test } from 'vitest';
import { Variables } from '../../../config/variables.ts';
import { proxySettings } from './settings.ts';

test('the proxy is closed, and refuses other hosts, until the operator says otherwise', () => {
  expect(proxySettings(new Variables({}))).toEqual({ port: null, others: 'refuse' });
  const set = new Variables({ VAULT_PORT: '7443', VAULT_OTHERS: 'tunnel' });
  expect(proxySettings(set)).toEqual({ port: 7443, others: 'tunnel' });
});

test.each([{ VAULT_PORT: '0' }, { VAULT_PORT: '65536' }, { VAULT_OTHERS: 'all' }])('%j is refused', (env) => {
  expect(() => proxySettings(new Variables(env))).toThrow(/^VAULT_(PORT|OTHERS) must be /);
});
