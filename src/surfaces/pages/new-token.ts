// Delivers the new token of a session whose token was a day old. The old one lives for a minute more. So every answer to that request
// carries the new cookie: a page, a redirect, a refusal, a failure. Pages need no code for it.
import type { IncomingHttpHeaders } from 'node:http';
import type { RawAnswer, RawHead, RawRoute } from '../../kit/raw-route.ts';

/** By the headers of the request, which its head and its body have in common. */
const cookies = new WeakMap<IncomingHttpHeaders, string>();

/** `cookie`: Set-Cookie for the answer to this request. */
export function giveNewToken({ headers }: Pick<RawHead, 'headers'>, cookie: string): void {
  cookies.set(headers, cookie);
}

/** The route of a page that looks who is signed in. */
export function withNewToken(route: RawRoute): RawRoute {
  const { refuse } = route;
  return {
    ...route,
    answer: async (request, state) => withCookie(await route.answer(request, state), request),
    ...(refuse === undefined ? {} : { refuse: (failure, head) => withCookie(refuse(failure, head), head) }),
  };
}

/** Who signs in anew or out is given the cookie of that, and no other. */
function withCookie(answer: RawAnswer, { headers }: Pick<RawHead, 'headers'>): RawAnswer {
  const cookie = cookies.get(headers);
  if (cookie === undefined) return answer;
  const others = [answer.headers['set-cookie'] ?? []].flat();
  const name = cookie.slice(0, cookie.indexOf('=') + 1);
  if (others.some((other) => other.startsWith(name))) return answer;
  return { ...answer, headers: { ...answer.headers, 'set-cookie': [...others, cookie] } };
}
