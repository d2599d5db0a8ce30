import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { knownScopesOf, type ScopeKind, scopesAllow, scopesWithin, validateScopes } from './scopes.ts';

const capabilities: { id: string; scope: ScopeKind }[] = [
  { id: 'queue.publish', scope: 'write' },
  { id: 'queue.batch.publish', scope: 'write' },
  { id: 'queue.stats', scope: 'read' },
  { id: 'vector.query', scope: 'read' },
  { id: 'account.balance', scope: 'read' },
  { id: 'account.keys.create', scope: 'admin' },
  { id: 'discovery', scope: 'read' },
  { id: 'operator.accounts.list', scope: 'read' },
];
const known = knownScopesOf(capabilities, ['queue', 'email', 'ai', 'ai (chat-completions-compatible)']);
const everyScope = [
  '*',
  ...known.kinds.keys(),
  ...[...known.modules].flatMap((module) => [module, `${module}:read`, `${module}:write`, `${module}:admin`]),
];
const scopeList = fc.option(fc.uniqueArray(fc.constantFrom(...everyScope), { minLength: 1, maxLength: 4 }), {
  nil: null,
});

// Capabilities that exist, and ones of every kind that some later release may add to any module or to a new one.
const universe = [
  ...capabilities,
  ...[...known.modules, 'unheard'].flatMap((module) =>
    (['read', 'write', 'admin'] as const).map((scope) => ({ id: `${module}.later_${scope}`, scope })),
  ),
];
const allowedBy = (scopes: readonly string[] | null) =>
  universe.filter(({ id, scope }) => scopesAllow(scopes, id, scope)).map(({ id }) => id);

describe('scopesWithin', () => {
  test('answers exactly whether every capability, later ones included, stays allowed', () => {
    fc.assert(
      fc.property(scopeList, scopeList, (inner, outer) => {
        const outerAllows = new Set(allowedBy(outer));
        expect(scopesWithin(known, inner, outer)).toBe(allowedBy(inner).every((id) => outerAllows.has(id)));
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    [['queue:read'], ['queue'], true],
    [['queue'], ['queue:admin'], true],
    [['queue:admin'], ['queue:write'], false],
    [['queue.publish'], ['queue:write'], true],
    [['queue.publish'], ['queue:read'], false],
    [['queue:write'], ['queue.publish', 'queue.batch.publish', 'queue.stats'], false],
    [null, ['*'], true],
    [['*'], null, true],
    [null, [...known.modules], false],
    [['operator'], null, false],
    [['operator:read'], ['*'], false],
    [['operator.accounts.list'], null, false],
    [['operator.accounts.list'], ['*', 'operator:read'], true],
    [['queue', '*'], ['*', 'operator'], true],
    [null, ['*', 'operator'], true],
    [['gone.long_ago'], ['gone:write'], false],
    [['gone.long_ago'], ['gone.long_ago'], true],
  ])('%j within %j: %s', (inner, outer, expected) => {
    expect(scopesWithin(known, inner, outer)).toBe(expected);
  });
});

describe('module operator', () => {
  const may = (scopes: string[] | null) => scopesAllow(scopes, 'operator.accounts.list', 'read');
  test.each([
    [null],
    [['*']],
    [[...known.modules].filter((module) => module !== 'operator')],
    [['account:admin', '*']],
  ])('is not in %j', (scopes) => {
    expect(may(scopes)).toBe(false);
    expect(scopesAllow(scopes, 'account.balance', 'read')).toBe(true);
  });

  test.each([[['operator']], [['operator:read']], [['operator.accounts.list']], [['*', 'operator']]])(
    'is in %j, by its name',
    (scopes) => {
      expect(may(scopes)).toBe(true);
    },
  );
});

describe('validateScopes', () => {
  test.each([[null], [[]]])('%j means all modules', (scopes) => {
    expect(validateScopes(known, scopes)).toBeNull();
  });

  test('every form of scope is known, planned modules included, and repeated ones are kept once', () => {
    const scopes = ['*', 'email', 'email:admin', 'queue:read', 'queue.batch.publish', 'email', 'discovery'];
    expect(validateScopes(known, scopes)).toEqual([
      '*',
      'email',
      'email:admin',
      'queue:read',
      'queue.batch.publish',
      'discovery',
    ]);
  });

  test.each([
    '',
    'Queue',
    'queue.',
    'queue:',
    'queue:delete',
    'queue:read:write',
    '*:read',
    'queue.publish:read',
    'deploy',
    'ai (chat-completions-compatible)',
    '__proto__',
    'queue:constructor',
    'queue:__proto__',
  ])('%j is refused with its place in the list', (scope) => {
    expect(() => validateScopes(known, ['queue', scope])).toThrow(
      expect.objectContaining({ code: 'INVALID_SCOPE', param: 'scopes[1]' }),
    );
  });

  test.each(['parcels:send', 'queue.send', 'x'])('names none when none is near: %s', (scope) => {
    expect(() => validateScopes(known, [scope])).toThrow(new RegExp(`"${scope}" is not a scope\\.$`));
  });

  test('names the nearest scope', () => {
    expect(() => validateScopes(known, ['queue.pubilsh'])).toThrow(
      /"queue\.pubilsh" is not a scope\. Did you mean "queue\.publish"\?/,
    );
  });
});
