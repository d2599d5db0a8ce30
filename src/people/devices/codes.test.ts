import { describe, expect, test } from 'vitest';
import { knownScopesOf, scopesAllow } from '../../core/callers/scopes.ts';
import {
  defaultScopes,
  deviceHash,
  newDeviceCode,
  newUserCode,
  readClientName,
  readScopes,
  readUserCode,
  shownUserCode,
} from './codes.ts';
import { offerOf, proposalOf } from './offer.ts';

const known = knownScopesOf(
  [
    { id: 'queue.publish', scope: 'write' },
    { id: 'account.balance', scope: 'read' },
    { id: 'account.keys.create', scope: 'admin' },
    { id: 'operator.accounts.list', scope: 'read' },
  ],
  ['video'],
);

describe('codes', () => {
  test('a user code is read back in any case, with any separators, and nothing else is one', () => {
    const code = newUserCode();
    expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/);
    const shown = shownUserCode(code);
    for (const typed of [code, shown, shown.toLowerCase(), ` ${code.slice(0, 2)} ${code.slice(2)}.`])
      expect(readUserCode(typed)).toBe(code);
    for (const typed of ['', 'BBBB', 'AAAAAAAA', 'BBBBBBBBB', 'BBBBBBB1']) expect(readUserCode(typed)).toBeNull();
  });

  test('only what can be a device code has a hash', () => {
    expect(deviceHash(newDeviceCode())).toHaveLength(32);
    for (const sent of ['', 'x', `${newDeviceCode()}=`, `${newDeviceCode().slice(1)}\n`])
      expect(deviceHash(sent)).toBeNull();
  });

  test('a name is one line that can be seen', () => {
    expect(readClientName('  build agent ')).toBe('build agent');
    for (const sent of [null, '', '  ', 'a\nb', 'a\u202eb', 'x'.repeat(129)]) expect(readClientName(sent)).toBeNull();
  });
});

describe('scopes', () => {
  test('by default a device gets everything, planned modules too, but keys of the account and the operator’s module', () => {
    const scopes = defaultScopes(known);
    expect(scopes).toEqual(['account:write', 'queue', 'video']);
    expect(scopesAllow(scopes, 'account.keys.create', 'admin')).toBe(false);
    expect(scopesAllow(scopes, 'account.balance', 'read')).toBe(true);
    expect(scopesAllow(scopes, 'operator.accounts.list', 'read')).toBe(false);
    expect(readScopes(known, '')).toEqual(scopes);
  });

  test('what exists is offered, as far as it was asked for and is held; what is only planned is not', () => {
    const levels = (asked: string[], held: string[] | null) => {
      const { modules, operations } = offerOf(known, asked, held);
      return [...modules.flatMap((each) => each.levels), ...operations];
    };
    const queue = ['queue:read', 'queue:write', 'queue'];
    expect(levels(['queue', 'video'], null)).toEqual(queue);
    expect(levels(['queue', 'video'], ['queue:read', 'account'])).toEqual(['queue:read']);
    expect(levels(['queue.publish'], ['queue'])).toEqual(['queue.publish']);
    expect(levels(['queue'], ['queue.publish', 'queue:read'])).toEqual(['queue:read', 'queue.publish']);
    expect(levels(['operator'], null)).toEqual([]);
    expect(levels(['*'], ['queue'])).toEqual(queue);
  });

  test('what is asked for by name is proposed, and of everything only to read; nothing of it for keys', () => {
    const proposed = (asked: readonly string[]) => proposalOf(known, offerOf(known, asked, null));
    expect(proposed(['queue', 'video', 'account.balance'])).toEqual(['queue', 'account.balance']);
    for (const asked of [readScopes(known, '') ?? [], ['*'], ['account', 'queue']])
      expect(proposed(asked)).toEqual(['queue:read', 'account:read']);
  });

  test('what nobody knows, or too much, is no list of scopes', () => {
    expect(() => readScopes(known, 'queue nonsense')).toThrow(/nonsense/);
    for (const scope of ['operator', 'operator:read', 'operator.accounts.list'])
      expect(() => readScopes(known, `queue ${scope}`)).toThrow(/only for keys of the operator/);
    expect(readScopes(known, Array.from({ length: 101 }, () => 'queue').join(' '))).toBeNull();
  });
});
