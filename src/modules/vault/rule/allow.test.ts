import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Problem } from '../../../problems/problem.ts';
import { type Allow, checkAllow, isAllowNarrower, refusalByAllow } from './allow.ts';

const entry = (methods: string, path: string) => ({ methods: methods.split(' '), path });

function refusedParam(allow: Allow): string | undefined {
  try {
    checkAllow(allow, 'allow');
    return undefined;
  } catch (error) {
    return (error as Problem).param;
  }
}

/** What the patterns mean, said by a regular expression. */
function isPathOfRegExp(pattern: string, path: string): boolean {
  const source = pattern.split('*').map((literal) => literal.replace(/[.\\+?^${}()|[\]]/g, '\\$&'));
  return new RegExp(`^${source.join('.*')}$`, 's').test(path);
}

describe('what a person allows', () => {
  test('is kept without repetition', () => {
    expect(checkAllow(null, 'allow')).toBeNull();
    expect(checkAllow([], 'allow')).toEqual([]);
    expect(checkAllow([entry('GET GET POST', '/v1/**')], 'allow')).toEqual([entry('GET POST', '/v1/*')]);
    expect(checkAllow([entry('GET *', '/')], 'allow')).toEqual([entry('*', '/')]);
    expect(checkAllow([entry('M-SEARCH', '/a..b/ä .c/...')], 'allow')).toEqual([entry('M-SEARCH', '/a..b/ä .c/...')]);
  });

  test.each([
    [{ methods: [], path: '/' }, 'allow[0].methods'],
    [entry('GET get', '/'), 'allow[0].methods[1]'],
    [entry('GET P*', '/'), 'allow[0].methods[1]'],
    [{ methods: [''], path: '/' }, 'allow[0].methods[0]'],
    [entry('GET', ''), 'allow[0].path'],
    [entry('GET', '*'), 'allow[0].path'],
    [entry('GET', 'v1'), 'allow[0].path'],
    [entry('GET', '/a\\b'), 'allow[0].path'],
    [entry('GET', '/a\nb'), 'allow[0].path'],
    [entry('GET', '/a\u0085b'), 'allow[0].path'],
    [entry('GET', '/a\ud800'), 'allow[0].path'],
    [entry('GET', '/../b'), 'allow[0].path'],
    [entry('GET', '/a/..'), 'allow[0].path'],
    [entry('GET', '/a/./b'), 'allow[0].path'],
    [entry('GET', '/a//b'), 'allow[0].path'],
    [entry('GET', '/a?b=c'), 'allow[0].path'],
    [entry('GET', '/a%20b'), 'allow[0].path'],
    [entry('GET', `/${'a*'.repeat(11)}`), 'allow[0].path'],
    [entry('GET', `/${'a'.repeat(512)}`), 'allow[0].path'],
  ])('%j is refused by its place', (wrong, param) => {
    expect(refusedParam([wrong])).toBe(param);
  });
});

describe('a call', () => {
  const allow = [
    entry('GET', '/v1/*'),
    entry('POST PATCH', '/v1/charges'),
    entry('*', '/open/*/x'),
    entry('HEAD', '/head'),
  ];

  test.each([
    ['GET', '/v1/', null],
    ['GET', '/v1/a/b/c', null],
    ['GET', '/v1', 'path'],
    ['GET', '/V1/a', 'path'],
    ['POST', '/v1/charges', null],
    ['POST', '/v1/charges/1', 'method'],
    ['DELETE', '/v1/charges', 'method'],
    ['DELETE', '/open/a/b/x', null],
    ['DELETE', '/open/x', 'path'],
    ['DELETE', '/open//x', null],
    ['HEAD', '/v1/a', null],
    ['HEAD', '/head', null],
    ['GET', '/head', 'method'],
    ['OPTIONS', '/v1/a', 'method'],
    ['get', '/v1/a', 'method'],
  ])('%s %s: %s', (method, path, refusal) => {
    expect(refusalByAllow(allow, method, path)).toBe(refusal);
  });

  test('is allowed by no rule at all, and by an empty rule never', () => {
    expect(refusalByAllow(null, 'DELETE', '/')).toBeNull();
    expect(refusalByAllow([], 'GET', '/')).toBe('path');
  });

  test('fits a pattern exactly when a regular expression of the same meaning says so', () => {
    const text = (alphabet: string) =>
      fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 12 }).map((rest) => `/${rest}`);
    fc.assert(
      fc.property(text('ab*'), text('ab/'), (pattern, path) => {
        expect(refusalByAllow([entry('GET', pattern)], 'GET', path) === null).toBe(isPathOfRegExp(pattern, path));
      }),
      { numRuns: 5000, seed: 7 },
    );
  });

  test('is compared without backtracking: ten stars, and a path of 8,192 characters', () => {
    const hostile = `/*${'aaaaaaab*'.repeat(9)}`;
    const fifty = Array.from({ length: 50 }, () => entry('GET', hostile));
    // With backtracking over nine stars this would not end.
    expect(refusalByAllow(fifty, 'GET', `/${'a'.repeat(8191)}`)).toBe('path');
    expect(refusalByAllow(fifty, 'GET', `/${'aaaaaaab'.repeat(1000)}a`)).toBeNull();
  });
});

describe('a rule that replaces another', () => {
  test.each<[Allow, Allow, boolean]>([
    [null, null, true],
    [null, [entry('*', '/*')], true],
    [[entry('*', '/*')], null, false],
    [[entry('GET', '/a')], [], true],
    [[], [entry('GET', '/a')], false],
    [[entry('GET', '/a/*')], [entry('GET', '/a/*')], true],
    [[entry('GET', '/a/*')], [entry('GET', '/a/b')], true],
    [[entry('GET', '/a/*')], [entry('GET', '/a/b/*')], true],
    [[entry('GET', '/a/*')], [entry('GET', '/a/*/b*c')], true],
    [[entry('GET', '/a/b/*')], [entry('GET', '/a/*')], false],
    [[entry('GET', '/a*b')], [entry('GET', '/a*')], false],
    [[entry('GET', '/*x*')], [entry('GET', '/*')], false],
    [[entry('GET', '/a')], [entry('GET', '/*')], false],
    [[entry('GET POST', '/a')], [entry('GET', '/a')], true],
    [[entry('GET', '/a')], [entry('GET POST', '/a')], false],
    [[entry('GET', '/a')], [entry('HEAD', '/a')], true],
    [[entry('HEAD', '/a')], [entry('GET', '/a')], false],
    [[entry('GET', '/a')], [entry('*', '/a')], false],
    [[entry('*', '/a')], [entry('GET DELETE', '/a')], true],
    [[entry('GET', '/*'), entry('POST', '/a')], [entry('GET POST', '/a')], true],
  ])('%j, then %j: narrower %s', (before, after, isNarrower) => {
    expect(isAllowNarrower(before, after)).toBe(isNarrower);
  });

  test('is never called narrower where it allows a call that the first refused', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 }).map((rest) => `/${rest}`);
    const path = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 8 }).map((rest) => `/${rest}`);
    let narrower = 0;
    fc.assert(
      fc.property(pattern, pattern, path, (before, after, called) => {
        if (!isAllowNarrower([entry('GET', before)], [entry('GET', after)])) return;
        narrower++;
        if (isPathOfRegExp(after, called)) expect(isPathOfRegExp(before, called)).toBe(true);
      }),
      { numRuns: 5000, seed: 7 },
    );
    expect(narrower).toBeGreaterThan(150);
  });
});
