import { expect, test } from 'vitest';
import { openedCookie, preferencesCookie, preferencesOf } from './preferences.ts';

const readFrom = (cookie: string) => preferencesOf({ headers: { cookie } });

test('what is chosen comes back with the cookie', () => {
  const cookie = preferencesCookie(new URLSearchParams({ theme: 'dark', zone: 'Europe/Berlin' }), {
    opened: ['vectors'],
  });
  expect(cookie).toMatch(/; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/);
  const sent = cookie.split(';')[0] as string;
  expect(readFrom(sent)).toEqual({
    theme: 'dark',
    zone: 'Europe/Berlin',
    keys: false,
    isChosen: true,
    opened: ['vectors'],
  });
});

test('a zone that was sent encoded is read', () => {
  expect(readFrom('qm_console=light~Asia%2FTokyo~on')).toEqual({
    theme: 'light',
    zone: 'Asia/Tokyo',
    keys: true,
    isChosen: true,
    opened: [],
  });
});

test.each(['qm_console=', 'qm_console=%', 'qm_console=neon~Moon/Base~on', 'other=1'])(
  '%s wishes for nothing',
  (sent) => {
    expect(readFrom(sent)).toMatchObject({ theme: 'system', zone: 'UTC', keys: true });
  },
);

test('a page that was opened is kept once, and does not count as a choice', () => {
  const first = openedCookie(readFrom('other=1'), 'vectors')?.split(';')[0] as string;
  expect(readFrom(first)).toEqual({
    theme: 'system',
    zone: 'UTC',
    keys: true,
    isChosen: false,
    opened: ['vectors'],
  });
  expect(openedCookie(readFrom(first), 'vectors')).toBeNull();
  const both = openedCookie(readFrom('qm_console=dark~UTC~off~vectors'), 'ai')?.split(';')[0] as string;
  expect(readFrom(both)).toEqual({
    theme: 'dark',
    zone: 'UTC',
    keys: false,
    isChosen: true,
    opened: ['vectors', 'ai'],
  });
});
