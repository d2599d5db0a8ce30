// Routes that pages of any site may call (CORS), with a key that anybody can read. The key permits nothing else, and cookies are ignored.

import type { Principal } from '../core/callers/principal.ts';
import { scopesWithin } from '../core/callers/scopes.ts';
import { problem } from '../problems/problem.ts';
import type { RawAnswer, RawRoute } from './raw-route.ts';
import type { Services } from './services.ts';

const DAY_SECONDS = '86400';

interface PageAccess {
  /** That a page may send. */
  readonly headers: string;
  /** That its script may read. */
  readonly exposed: string;
}

/** The route with the answer to preflight requests; a page may read all that it answers. */
export function pageRoute<State>({ headers, exposed }: PageAccess, route: RawRoute<State>): RawRoute<State> {
  const { methods, credentialOf, answer, refuse } = route;
  const open = { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed };
  const withOpenHeaders = (told: RawAnswer): RawAnswer => ({ ...told, headers: { ...open, ...told.headers } });
  const preflight = withOpenHeaders({
    status: 204,
    headers: {
      'access-control-allow-methods': [...methods, 'OPTIONS'].join(', '),
      'access-control-allow-headers': headers,
      'access-control-max-age': DAY_SECONDS,
    },
    body: '',
  });
  return {
    ...route,
    methods: [...methods, 'OPTIONS'],
    credentialOf: (head, state) => (head.method === 'OPTIONS' ? null : (credentialOf?.(head, state) ?? null)),
    answer: async (request, state) =>
      request.method === 'OPTIONS' ? preflight : withOpenHeaders(await answer(request, state)),
    ...(refuse && { refuse: (failure, head) => withOpenHeaders(refuse(failure, head)) }),
  };
}

/** What a page is told whose key may do more than `scope`. `name`: that the key could have. */
export function pageKeySentence(name: string, scope: string): string {
  return (
    `The key of a web page can be read by everybody: it must have the scope ${scope} and no other. ` +
    `Make one with: qm keys create --account ACCOUNT_ID --name ${name} --scopes ${scope}`
  );
}

/** Throws INSUFFICIENT_SCOPE with that sentence for a key that may do more. */
export function requirePageKey({ knownScopes }: Services, { scopes }: Principal, name: string, scope: string): void {
  if (scopesWithin(knownScopes, scopes, [scope])) return;
  throw problem('INSUFFICIENT_SCOPE', { message: pageKeySentence(name, scope) });
}
