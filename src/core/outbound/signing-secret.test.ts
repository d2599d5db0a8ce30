import { describe, expect, test } from 'vitest';
import { Problem } from '../../problems/problem.ts';
import { secretLast4, signingSecret } from './signing-secret.ts';

const whsec = (bytes: number) => `whsec_${Buffer.alloc(bytes, 0xfb).toString('base64')}`;

function refusal(input: string): Problem {
  try {
    signingSecret(input, 'secret');
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  throw new Error('accepted');
}

describe('signing secrets', () => {
  test('null and absent mint 32 random bytes', () => {
    const minted = [signingSecret(null, 'secret'), signingSecret(undefined, 'secret')];
    expect(new Set(minted).size).toBe(2);
    for (const secret of minted) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    }
  });

  test.each([24, 25, 26, 32, 64])('whsec_ with %i bytes stays as it is', (bytes) => {
    expect(signingSecret(whsec(bytes), 'secret')).toBe(whsec(bytes));
  });

  test('missing padding is mended: the library insists on it', () => {
    expect(signingSecret(whsec(25).replace(/=+$/, ''), 'secret')).toBe(whsec(25));
  });

  test.each(['a'.repeat(24), 'é'.repeat(32), ' spaces are bytes like all others'])(
    '%s is used as its bytes',
    (text) => {
      expect(Buffer.from(signingSecret(text, 'secret').slice(6), 'base64').toString('utf8')).toBe(text);
    },
  );

  test.each([
    ['', 'length'],
    ['a'.repeat(23), 'length'],
    ['a'.repeat(65), 'length'],
    ['é'.repeat(33), 'length'],
    [whsec(23), 'length'],
    [whsec(65), 'length'],
    ['whsec_', 'length'],
    [`${whsec(32)}!`, 'format'],
    [`whsec_${'-_'.repeat(16)}`, 'format'],
    [`whsec_ ${whsec(32).slice(6)}`, 'format'],
    ['whsec_this is no base64 at all, is it?', 'format'],
    [`\uD800${'a'.repeat(30)}`, 'format'],
  ])('%j is refused: %s', (input, rule) => {
    const error = refusal(input);
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED', param: 'secret', detail: rule });
    if (input.length > 6) expect(error.message).not.toContain(input);
  });

  test('the last four characters tell secrets apart', () => {
    expect(secretLast4('whsec_abcdefgh')).toBe('efgh');
  });
});
