// A browser's part in plain HTTP: it keeps cookies, sends forms as pages of the service do, and follows nothing by itself.
export interface Visit {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where it leads; null: nowhere. */
  readonly location: string | null;
}

export class PageVisitor {
  readonly #url: string;
  readonly cookies = new Map<string, string>();

  constructor(url: string) {
    this.#url = url;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Visit> {
    return this.send('GET', path, headers);
  }

  /** Sends a form with these fields, unless `headers` say otherwise. */
  post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Visit> {
    const own = { origin: new URL(this.#url).origin, 'content-type': 'application/x-www-form-urlencoded', ...headers };
    return this.send('POST', path, own, new URLSearchParams(fields).toString());
  }

  /** The form token of a page of the session. */
  async formToken(path: string): Promise<string> {
    return /name="form_token" value="([^"]+)"/.exec((await this.get(path)).text)?.[1] ?? '';
  }

  async send(method: string, path: string, headers: Record<string, string>, body?: string): Promise<Visit> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(path, this.#url), {
      method,
      redirect: 'manual' as const,
      headers: { ...headers, ...(cookie === '' ? {} : { cookie }) },
      ...(body === undefined ? {} : { body }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const { status, headers: sent } = response;
    return { status, headers: sent, text: await response.text(), location: sent.get('location') };
  }
}
