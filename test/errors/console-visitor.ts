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
    return this.#send(`/console/errors/${groupId}`, { method: 'GET', headers });
  }

  /** As the page of the group has it. */
  async formToken(groupId: string): Promise<string> {
    return /name="form_token" value="([^"]+)"/.exec((await this.open(groupId)).text)?.[1] ?? '';
  }

  /** By the button of the group's page. */
  async signOut(groupId: string, headers: Record<string, string> = {}, token?: string): Promise<Visit> {
    const fields = { form_token: token ?? (await this.formToken(groupId)) };
    return this.#post('/auth/sign-out', fields, headers);
  }

  /** Sends the form as the page would, unless `headers` say otherwise; an empty value leaves a header out. */
  async send(groupId: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Visit> {
    return this.#post(`/console/errors/${groupId}`, fields, headers);
  }

  async #post(path: string, fields: Record<string, string>, headers: Record<string, string>): Promise<Visit> {
    const own = { origin: `http://${this.#host}`, 'content-type': 'application/x-www-form-urlencoded', ...headers };
    const sent = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== ''));
    return this.#send(path, { method: 'POST', headers: sent, body: new URLSearchParams(fields).toString() });
  }

  signIn(groupId: string, key: string): Promise<Visit> {
    return this.send(groupId, { key });
  }

  async #send(path: string, init: { method: string; headers: Record<string, string>; body?: string }): Promise<Visit> {
    const response = await fetch(`${this.#url}${path}`, {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers, ...(this.cookie === '' ? {} : { cookie: this.cookie }) },
    });
    const set = response.headers.get('set-cookie')?.split(';', 1)[0];
    if (set !== undefined) this.cookie = set.endsWith('=') ? '' : set;
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}
