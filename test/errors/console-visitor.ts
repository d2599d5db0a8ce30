// A browser's part in plain HTTP: it keeps the cookie of the console and follows nothing by itself.
import type { ErrorsBench } from './harness.ts';

export interface Visit {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export class Visitor {
  readonly #url: string;
  readonly #host: string;
  /** `name=value` as a Cookie header has it; empty without a session. */
  cookie = '';

  constructor(bench: ErrorsBench) {
    this.#url = bench.service.url;
    this.#host = new URL(this.#url).host;
  }

  async open(groupId: string, headers: Record<string, string> = {}): Promise<Visit> {
    return this.#send(groupId, { method: 'GET', headers });
  }

  /** Sends the form as the page would, unless `headers` say otherwise; an empty value leaves a header out. */
  async send(groupId: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Visit> {
    const own = { origin: `http://${this.#host}`, 'content-type': 'application/x-www-form-urlencoded', ...headers };
    const sent = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== ''));
    return this.#send(groupId, { method: 'POST', headers: sent, body: new URLSearchParams(fields).toString() });
  }

  signIn(groupId: string, key: string): Promise<Visit> {
    return this.send(groupId, { key });
  }

  async #send(
    groupId: string,
    init: { method: string; headers: Record<string, string>; body?: string },
  ): Promise<Visit> {
    const response = await fetch(`${this.#url}/console/errors/${groupId}`, {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers, ...(this.cookie === '' ? {} : { cookie: this.cookie }) },
    });
    const set = response.headers.get('set-cookie')?.split(';', 1)[0];
    if (set !== undefined) this.cookie = set.endsWith('=') ? '' : set;
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}
