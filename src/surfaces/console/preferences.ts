// Console preferences and opened pages of a browser, in one cookie. A form sets the preferences, so they work without scripts.
import { stringifySetCookie } from 'cookie';
import type { RawHead } from '../../kit/raw-route.ts';
import { sentCookie } from '../pages/session-cookie.ts';

const NAME = 'qm_console';
const YEAR_SECONDS = 31_536_000;
const ZONE = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/;

const PAGE = /^[a-z_]{1,40}$/;
const OPENED_MAX = 40;

const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export interface Preferences {
  readonly theme: Theme;
  /** IANA name of the zone that instants are told in, beside UTC. */
  readonly zone: string;
  /** Whether letters lead to pages. */
  readonly keys: boolean;
  /** Somebody has said so, here or in another tab; else they are as they are for all. */
  readonly isChosen: boolean;
  /** Names of pages that were opened in this browser. */
  readonly opened: readonly string[];
}

const plain: Preferences = { theme: 'system', zone: 'UTC', keys: true, isChosen: false, opened: [] };

export function preferencesOf({ headers }: Pick<RawHead, 'headers'>): Preferences {
  const sent = sentCookie(headers.cookie, NAME);
  if (sent === null) return plain;
  const [theme = '', zone = '', keys = '', opened = ''] = sent.split('~');
  return {
    theme: themeOf(theme),
    zone: zoneOf(zone),
    keys: keys !== 'off',
    isChosen: theme !== '',
    opened: opened
      .split('.')
      .filter((name) => PAGE.test(name))
      .slice(0, OPENED_MAX),
  };
}

/** Set-Cookie for what the form of the preferences sent. */
export function preferencesCookie(form: URLSearchParams, { opened }: Pick<Preferences, 'opened'>): string {
  const theme = themeOf(form.get('theme') ?? '');
  const zone = zoneOf(form.get('zone')?.trim() ?? '');
  return cookieOf([theme, zone, form.has('keys') ? 'on' : 'off'], opened);
}

/** Set-Cookie once the page was opened; null: it was before. */
export function openedCookie({ theme, zone, keys, isChosen, opened }: Preferences, page: string): string | null {
  if (opened.includes(page)) return null;
  return cookieOf(isChosen ? [theme, zone, keys ? 'on' : 'off'] : ['', '', ''], [...opened, page]);
}

function cookieOf(chosen: readonly string[], opened: readonly string[]): string {
  return stringifySetCookie({
    name: NAME,
    value: [...chosen, opened.join('.')].join('~'),
    maxAge: YEAR_SECONDS,
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
  });
}

function themeOf(text: string): Theme {
  return themes.find((theme) => theme === text) ?? plain.theme;
}

/** UTC for what is no zone that this machine knows. */
function zoneOf(text: string): string {
  if (!ZONE.test(text)) return plain.zone;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return plain.zone;
    throw error;
  }
}
