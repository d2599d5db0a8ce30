import { expect, test } from 'vitest';
import { preferencesCookie, preferencesOf } from './preferences.ts';

const readFrom = (cookie: string) => preferencesOf({ headers: { cookie } });

test('what is chosen comes back with the cookie', () => {
  const cookie = preferencesCookie(new URLSearchParams({ theme: 'dark', zone: 'Europe/Berlin' }));
  expect(cookie).toMatch(/; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/);
  const sent = cookie.split(';')[0] as string;
  expect(readFrom(sent)).toEqual({
    theme: 'dark',
    zone: 'Europe/Berlin',
    keys: false,
    isChosen: true,
    folded: [],
  });
});

test('a zone that was sent encoded is read', () => {
  expect(readFrom('qm_console=light~Asia%2FTokyo~on')).toEqual({
    theme: 'light',
    zone: 'Asia/Tokyo',
    keys: true,
    isChosen: true,
    folded: [],
  });
});

test.each(['qm_console=', 'qm_console=%', 'qm_console=neon~Moon/Base~on', 'other=1'])(
  '%s wishes for nothing',
  (sent) => {
    expect(readFrom(sent)).toMatchObject({ theme: 'system', zone: 'UTC', keys: true });
  },
);

test('groups that are folded are read, and no other name', () => {
  expect(readFrom('qm_folded=build.make.nonsense').folded).toEqual(['build', 'make']);
  expect(readFrom('qm_console=dark~UTC~off; qm_folded=reach')).toEqual({
    theme: 'dark',
    zone: 'UTC',
    keys: false,
    isChosen: true,
    folded: ['reach'],
  });
});
