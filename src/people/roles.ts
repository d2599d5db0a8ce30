// Roles of people in an account, and the scopes of each. Only an owner changes people: of people only owners have no scopes that bound them.
import { type KnownScopes, OPERATOR_MODULE } from '../core/callers/scopes.ts';

export const roles = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** What each may do, for people who choose one. */
export const roleTexts: Readonly<Record<Role, string>> = {
  owner: 'full access, people included',
  admin: 'full access, except people',
  developer: 'everything in the modules, reads the account',
  billing: 'pays, sets budget and plan, reads the account',
  viewer: 'sees everything, changes nothing',
};

const ACCOUNT = 'account';
/** Whoever a rule names may approve what it asks about. */
const DECIDES = 'account.approvals.decide';
/** What pays, and what bounds payments. */
const paying = /^account\.(topup|payment_method|autorecharge|budget|tier|subscription)(\.|$)/;

export function isRole(text: string): text is Role {
  return (roles as readonly string[]).includes(text);
}

/** Null: all. */
export function scopesOfRole({ modules, kinds }: KnownScopes, role: Role): readonly string[] | null {
  const deciding = kinds.has(DECIDES) ? [DECIDES] : [];
  const own = [...modules].filter((name) => name !== OPERATOR_MODULE);
  switch (role) {
    case 'owner':
      return null;
    case 'admin':
      return ['*'];
    case 'developer':
      return [...own.map((name) => (name === ACCOUNT ? `${ACCOUNT}:read` : name)), ...deciding];
    case 'billing':
      return [`${ACCOUNT}:read`, ...[...kinds.keys()].filter((id) => paying.test(id)), ...deciding];
    case 'viewer':
      return [...own.map((name) => `${name}:read`), ...deciding];
  }
}
