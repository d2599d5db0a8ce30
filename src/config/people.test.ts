import { expect, test } from 'vitest';
import { peopleSettings } from './people.ts';
import { Variables } from './variables.ts';

const read = (env: Record<string, string>, baseUrl = 'https://qm.example.org') =>
  peopleSettings(new Variables(env), baseUrl);

test('everybody may sign up on this machine only, unless told otherwise', () => {
  expect(read({}, 'http://127.0.0.1:8787').signUp.isOpen).toBe(true);
  expect(read({}).signUp.isOpen).toBe(false);
  expect(read({ SIGNUP: 'open', SIGNUP_DOMAINS: 'Example.org, corp.example' }).signUp).toEqual({
    isOpen: true,
    domains: ['example.org', 'corp.example'],
  });
  expect(read({ SIGNUP: 'closed' }, 'http://localhost').signUp.isOpen).toBe(false);
});

test('mail is sent by the server that is named, from the base URL unless told otherwise', () => {
  expect(read({}).smtp).toBeNull();
  const SMTP_URL = 'smtps://me:secret@mail.example.org';
  expect(read({ SMTP_URL }).smtp).toEqual({ url: SMTP_URL, from: 'Quartermaster <no-reply@qm.example.org>' });
  expect(read({ SMTP_URL, MAIL_FROM: 'qm@example.net' }).smtp?.from).toBe('qm@example.net');
});

test.each([
  [{ SIGNUP: 'maybe' }, /SIGNUP must be one of/],
  [{ SIGNUP_DOMAINS: 'a b@c' }, /SIGNUP_DOMAINS must be/],
  [{ MAIL_FROM: 'nobody' }, /MAIL_FROM must be/],
  [{ MAIL_FROM: 'a@b.c, d@e.f' }, /MAIL_FROM must be/],
])('%o is refused in one line', (env, sentence) => {
  expect(() => read(env as unknown as Record<string, string>)).toThrow(sentence);
});

test('a wrong SMTP_URL is refused without being repeated: it holds a password', () => {
  expect(() => read({ SMTP_URL: 'https://me:secret@mail.example.org' })).toThrow(/^SMTP_URL must be like (?!.*secret)/);
});
