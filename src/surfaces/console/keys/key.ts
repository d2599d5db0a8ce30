// A key as the API tells it, and the time over which its spend is told.

export const DAYS = 30;

export interface Key {
  readonly id: string;
  readonly name: string | null;
  readonly scopes: readonly string[] | null;
  readonly status: 'active' | 'rotating' | 'revoked' | 'expired';
  readonly prefix: string;
  readonly last4: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
  readonly rotating_until: string | null;
  readonly revoked_at: string | null;
  readonly flagged_at: string | null;
  readonly spend_cap_usd: number | null;
  readonly spend_cap_period: 'total' | 'daily' | 'monthly' | null;
  readonly spend_used_usd: number | null;
}

const kinds: Readonly<Record<string, string>> = { read: 'read', write: 'read and write', admin: 'do everything in' };

/** `read and write queue, errors.capture`: what a key may do. */
export function scopesInWords(scopes: readonly string[] | null): string {
  if (scopes === null) return 'everything';
  const words = scopes.map((scope) => {
    const [module = '', kind] = scope.split(':');
    if (scope === '*') return 'everything';
    if (kind !== undefined) return `${kinds[kind] ?? kind} ${module}`;
    return scope.includes('.') ? scope : `do everything in ${module}`;
  });
  return words.join(', ');
}
