// Console preferences of a browser, in a cookie that a form sets, so they work without scripts. What is folded in the navigation is a cookie of
// its own, which the script writes.
import { stringifySetCookie } from 'cookie';
import { navGroups } from '../../kit/console/page.ts';
import type { RawHead } from '../../kit/raw-route.ts';
import { sentCookie } from '../pages/session-cookie.ts';

const NAME = 'qm_console';
const YEAR_SECONDS = 31_536_000;
const ZONE = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/;

const FOLDED = 'qm_folded';

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
  /** Groups of the navigation that are closed. */
  readonly folded: readonly string[];
}

const plain: Preferences = { theme: 'system', zone: 'UTC', keys: true, isChosen: false, folded: [] };

export function preferencesOf({ headers }: Pick<RawHead, 'headers'>): Preferences {
  const names = sentCookie(headers.cookie, FOLDED)?.split('.') ?? [];
  const folded = navGroups.filter((group) => names.includes(group));
  const sent = sentCookie(headers.cookie, NAME);
  if (sent === null) return { ...plain, folded };
  const [theme = '', zone = '', keys = ''] = sent.split('~');
  return { theme: themeOf(theme), zone: zoneOf(zone), keys: keys !== 'off', isChosen: theme !== '', folded };
}

/** Set-Cookie for what the form of the preferences sent. */
export function preferencesCookie(form: URLSearchParams): string {
  const theme = themeOf(form.get('theme') ?? '');
  const zone = zoneOf(form.get('zone')?.trim() ?? '');
  return stringifySetCookie({
    name: NAME,
    value: [theme, zone, form.has('keys') ? 'on' : 'off'].join('~'),
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
