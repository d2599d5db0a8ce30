// What only looks like a secret stays as it was, down to the last character.
import { expect, test } from 'vitest';
import { scrubEvent } from './scrub.ts';

const everywhere = (text: string) => ({
  title: text,
  message: text,
  exception: {
    type: 'E',
    value: text,
    stacktrace: [{ func: 'f', file: 'f.ts', context_line: text, vars: { note: text } }],
  },
  breadcrumbs: [{ message: text, data: { note: text } }],
  extra: { note: [text] },
  request: { note: text },
});

test.each([
  'User authenticated',
  'author: Jane Austen',
  'tokenizer: failed to load vocabulary',
  'keyboard: layout missing',
  'passenger=42',
  'cookieConsentShown: true',
  'Basic authentication is required',
  'bearer token missing',
  'SyntaxError: Unexpected token } in JSON at position 5',
  'Unexpected token: punc (;)',
  'Unexpected token : in JSON',
  'password: must be at least 8 characters',
  'password is required',
  'token: string;',
  'password: undefined',
  'max_tokens: 4096, total_tokens=812',
  'token_type=bearer&expires_in=3600',
  'at verify (src/auth/token.ts:12:3)',
  'at reset (/app/password-reset.tsx:120:15)',
  'C:\\app\\secret.txt:3',
  'order 123456789012345 was not found',
  'order 999999999999999',
  '4111111111111112 fails the check digit',
  'phone +49 170 1234567',
  'at 1767323045123, 1767323045123456, 1767323045123456789',
  '2026-01-02T03:04:05.678Z',
  '550e8400-e29b-41d4-a716-446655440000',
  '41111111-1111-1111-1111-111111111111',
  'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
  'sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==',
  'https://example.com:8080/@scope/package?page=2#top',
  'git@github.com/org',
  'std::vec::Vec<u8>, crate::lexer::Token::Ident',
  'Mozilla/5.0 Chrome/120.0.0.0 Safari/537.36',
  'node_modules/.pnpm/react@18.2.0/node_modules/react/index.js',
  'icon@2x.png',
  '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
  'sk-circle-fade-delay-animation-slow',
  'primary_key=17 cache_key: users:17 sort_key=created',
  'const keys = Object.keys(map); for (const key of keys) {',
  'the secret of success, a cookie a day',
  'errgrp_01hzy3v7k2m9qwertyuiopasd',
  'ratio 0.4111111111111111',
  'compass: north, bypass=on, tests passed: 12, failed: 0',
  'Signature of f(x) does not match',
])('%j', (text) => {
  const event = everywhere(text);
  expect(scrubEvent(event)).toEqual(event);
});

test('lines of a program keep calls and members behind a name', () => {
  const lines = [
    'const token = readToken(request);',
    'password: process.env.PASSWORD,',
    'items.map((token) => token.text)',
    'if (token === undefined) return null;',
    'this.password = password ?? null;'.replace('password ??', 'options.password ??'),
  ];
  const event = { exception: { stacktrace: [{ context_pre: lines, context_line: lines[0], context_post: lines }] } };
  expect(scrubEvent(event)).toEqual(event);
});

test('names that are about a secret, or about nothing of the kind', () => {
  const event = {
    user_id: 'jane@example.com',
    level: 'error',
    tags: {
      author: 'Jane',
      authenticated: 'yes',
      keyboard: 'de',
      tokenizer: 'bpe',
      token_type: 'bearer',
      region: 'eu',
    },
    extra: {
      cookieConsentShown: true,
      passwordLength: 12,
      hasPassword: true,
      password_reset_required: false,
      password: null,
      secret: '',
      maxTokens: 4096,
      prompt_tokens: 12,
      session: { startedAt: '2026-01-02T03:04:05Z', page: 3 },
      primaryKey: 'id',
      partition_key: 'a',
      author: 'Jane',
      authority: 'example.com',
      passenger: 'Jane',
      compass: 'north',
      pinned: 'yes',
      signal: 'SIGTERM',
      code: 'E_PAY',
      secretary: 'Jane',
    },
    request: {
      headers: [
        ['content-type', 'text/html'],
        ['accept', '*/*'],
      ],
      method: 'POST',
    },
    user: { id: 17, name: 'Jane', version: '1.2.3' },
  };
  expect(scrubEvent(event)).toEqual(event);
});

test('an event without secrets is not copied but for its first level', () => {
  const event = { extra: { a: [1, { b: 'text' }] }, tags: { c: 'd' } };
  expect(scrubEvent(event)).toBe(event);
});

test('a user id of digits is an id, whatever its check digit says', () => {
  expect(scrubEvent({ user_id: '4111111111111111' })).toEqual({ user_id: '4111111111111111' });
});
