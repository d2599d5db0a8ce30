// Codes of the device flow (RFC 8628), and limits of what a device may get. The device code has 256 random bits and is stored as a hash. The
// user code has eight letters of an alphabet of twenty: no two look alike, and they spell no words.
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { requireNotOperators } from '../../core/accounts/operator.ts';
import { type KnownScopes, OPERATOR_MODULE, validateScopes } from '../../core/callers/scopes.ts';

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const USER_CODE_LENGTH = 8;
const DEVICE_CODE = /^[0-9A-Za-z_-]{43}$/;
const userCode = new RegExp(`^[${LETTERS}]{${USER_CODE_LENGTH}}$`);
const NAME_CHARACTERS_MAX = 128;
const SCOPES_MAX = 100;

export function newUserCode(): string {
  return Array.from({ length: USER_CODE_LENGTH }, () => LETTERS.charAt(randomInt(LETTERS.length))).join('');
}

export function newDeviceCode(): string {
  return randomBytes(32).toString('base64url');
}

/** Null for what cannot be one: it is not looked up. */
export function deviceHash(deviceCode: string): Buffer | null {
  return DEVICE_CODE.test(deviceCode) ? createHash('sha256').update(deviceCode).digest() : null;
}

/** As people read it: `BCDF-GHJK`. */
export function shownUserCode(code: string): string {
  return `${code.slice(0, USER_CODE_LENGTH / 2)}-${code.slice(USER_CODE_LENGTH / 2)}`;
}

/** The code in what a person typed, in any case and with any separators (RFC 8628 §6.1); null: it cannot be one. */
export function readUserCode(typed: string): string | null {
  const code = typed.toUpperCase().replace(/[^A-Z0-9]/g, '');
  return userCode.test(code) ? code : null;
}

/** How a device calls itself: one line of text; null for what is none. */
export function readClientName(sent: string | null): string | null {
  const name = (sent ?? '').trim();
  return name === '' || name.length > NAME_CHARACTERS_MAX || /\p{C}/u.test(name) ? null : name;
}

/** Scopes of OpenID Connect, for facts about a person. mcp-remote asks any server for them, unless it is given others. */
const ofPeople = new Set(['openid', 'email', 'profile']);

/**
 * Scopes as RFC 6749 §3.3 writes them, or the default. Scopes of OpenID Connect, and offline_access, are left out, as that section allows: no key
 * has them. `email` is one of them beside `openid`, and else the module. Throws INVALID_SCOPE, for those of the operator too; null: they are too many.
 */
export function readScopes(known: KnownScopes, sent: string | null): readonly string[] | null {
  const all = (sent ?? '').split(' ').filter((scope) => scope !== '' && scope !== 'offline_access');
  const scopes = all.includes('openid') ? all.filter((scope) => !ofPeople.has(scope)) : all;
  if (scopes.length > SCOPES_MAX) return null;
  requireNotOperators(scopes);
  return validateScopes(known, scopes) ?? defaultScopes(known);
}

/**
 * Everything but `account:admin`: each module of this service, also those that are only planned, by its name, and `account` up to writing.
 */
export function defaultScopes({ modules }: KnownScopes): readonly string[] {
  const whole = [...modules].filter((name) => name !== 'account' && name !== OPERATOR_MODULE);
  return ['account:write', ...whole.sort()];
}
