// A browser that follows redirects and keeps cookies, as far as signing in at a provider needs one.

export interface Walker {
  /** One GET, with the cookies of its origin. */
  get(url: string, headers?: Record<string, string>): Promise<Response>;
  /** Follows redirects until one leads to an address that begins with `target`, and answers that address unvisited. */
  walk(url: string, target: string): Promise<URL>;
  /** As a Cookie header. */
  cookies(url: string): string;
  set(url: string, cookie: string): void;
  post(url: string, form: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
}

const REDIRECTS_MAX = 12;

export function walker(): Walker {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string) => {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };
  const set = (url: string, cookie: string) => {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (value === '' || /max-age=0/i.test(cookie)) jarOf(url).delete(name);
    else jarOf(url).set(name, value);
  };
  const cookies = (url: string) => [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ');
  const send = async (url: string, init: RequestInit) => {
    const headers = { accept: 'text/html', ...init.headers, cookie: cookies(url) };
    const answer = await fetch(url, { ...init, redirect: 'manual', headers });
    for (const cookie of answer.headers.getSetCookie()) set(url, cookie);
    return answer;
  };
  const get: Walker['get'] = (url, headers = {}) => send(url, { headers });
  return {
    get,
    set,
    cookies,
    async walk(url, target) {
      for (let at = url, i = 0; i < REDIRECTS_MAX; i += 1) {
        const answer = await get(at);
        const to = answer.headers.get('location');
        if (to === null) throw new Error(`${at} answered ${answer.status}: ${(await answer.text()).slice(0, 500)}`);
        await answer.body?.cancel();
        at = new URL(to, at).href;
        if (at.startsWith(target)) return new URL(at);
      }
      throw new Error(`${url} leads nowhere`);
    },
    post: (url, form, headers = {}) =>
      send(url, {
        method: 'POST',
        body: new URLSearchParams(form),
        headers: { 'sec-fetch-site': 'same-origin', ...headers },
      }),
  };
}
