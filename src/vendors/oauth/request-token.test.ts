import { describe, expect, test } from 'vitest';
import { readAnswer } from './request-token.ts';

const HOST = 'login.example.com';
const token = (more: object) => JSON.stringify({ access_token: 'a.b-c_d~+/=', token_type: 'Bearer', ...more });
const none = { refresh: null, expiresInMs: null, idToken: null };

describe('an answer of a token endpoint', () => {
  test.each([
    ['with everything', token({ refresh_token: 'r', expires_in: 3_600 }), { refresh: 'r', expiresInMs: 3_600_000 }],
    ['without an end', token({}), {}],
    ['with an end as a text', token({ expires_in: '300' }), { expiresInMs: 300_000 }],
    ['with an end that is none', token({ expires_in: -1 }), {}],
    ['with an empty refresh token', token({ refresh_token: '' }), {}],
    ['with an end beyond all bounds', token({ expires_in: 1e300 }), { expiresInMs: 10 * 365 * 86_400_000 }],
  ])('%s is a token', (_, text, more) => {
    expect(readAnswer(200, text, HOST)).toEqual({ kind: 'token', access: 'a.b-c_d~+/=', ...none, ...more });
  });

  test.each([
    [400, '{"error":"invalid_grant","error_description":"secret"}', 'invalid_grant'],
    // As GitHub says it.
    [200, '{"error":"bad_refresh_token"}', 'bad_refresh_token'],
    [401, '{"error":"invalid_client"}', 'invalid_client'],
  ])('%i %s refuses', (status, text, error) => {
    expect(readAnswer(status, text, HOST)).toEqual({ kind: 'refused', error });
  });

  test.each([
    [429, '{"error":"invalid_grant"}'],
    [404, 'not found'],
    [403, '{"message":"blocked"}'],
    [302, ''],
    [200, '<html>'],
    [200, '[]'],
    [200, '{"access_token":""}'],
    [200, '{"access_token":"two\\r\\nlines"}'],
    [200, '{"access_token":7}'],
    [200, token({ refresh_token: 'two words' })],
    [400, '{"error":"a-token-that-it-was-sent"}'],
    [400, '{"error":"temporarily_unavailable"}'],
    [200, '{"error":["invalid_grant"]}'],
  ])('%i %s says nothing about the grant, and nothing of it is told', (status, text) => {
    const answer = readAnswer(status, text, HOST);
    expect(answer).toEqual({ kind: 'failed', message: expect.stringContaining(HOST) });
    expect(JSON.stringify(answer)).not.toContain('a-token');
  });
});
