// Sign-in by identity providers over HTTP: a service, three real providers, and browsers that are sent between them.
import { lockAccount } from '../../src/core/callers/lock.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { balanceOf } from '../../src/core/wallet/ledger/read.ts';
import { findSession, formToken } from '../../src/people/sessions/sessions.ts';
import type { Walker } from '../support/identity/browser-walk.ts';
import { type GitHubServer, startGitHub } from '../support/identity/github.ts';
import { type OidcServer, type Person, startOidc } from '../support/identity/oidc.ts';
import { freePort } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';

export class IdentityBench {
  readonly it: TestService;
  readonly corp: OidcServer;
  readonly other: OidcServer;
  readonly github: GitHubServer;
  /** Whoever signs in at `corp` in this test. */
  ada: Person = { sub: 'ada-0' };
  /** Number of the test. */
  last = 0;

  private constructor(it: TestService, corp: OidcServer, other: OidcServer, github: GitHubServer) {
    this.it = it;
    this.corp = corp;
    this.other = other;
    this.github = github;
  }

  static async open(): Promise<IdentityBench> {
    const port = await freePort();
    const callback = (id: string) => `http://127.0.0.1:${port}/auth/callback/${id}`;
    const [corp, other, github] = await Promise.all([
      startOidc([callback('corp')]),
      startOidc([callback('other')]),
      startGitHub(),
    ]);
    const providers = [corp.entry('corp'), other.entry('other'), github.entry('github')];
    const it = await startTestService({ env: { PORT: String(port), IDENTITY_PROVIDERS: JSON.stringify(providers) } });
    return new IdentityBench(it, corp, other, github);
  }

  async stop(): Promise<void> {
    await Promise.all([this.it.stop(), this.corp.stop(), this.other.stop(), this.github.stop()]);
  }

  /** Other people at the providers, for each test. */
  newPeople(): void {
    this.last += 1;
    const { last } = this;
    this.ada = { sub: `ada-${last}`, email: `ada${last}@example.org`, email_verified: true, name: 'Ada' };
    this.corp.person = this.ada;
    this.other.person = { sub: `other-${last}`, email: `other${last}@example.org`, email_verified: true };
  }

  /** Where the provider sends the browser back to. */
  away(browser: Walker, id = 'corp', returnTo = '/auth/account'): Promise<URL> {
    const { url } = this.it;
    return browser.walk(`${url}/auth/start/${id}?return_to=${encodeURIComponent(returnTo)}`, `${url}/auth/callback/`);
  }

  async signIn(browser: Walker, id = 'corp', returnTo?: string): Promise<Response> {
    return browser.get((await this.away(browser, id, returnTo)).href);
  }

  async sessionOf(browser: Walker) {
    const token = /qm_session=([^;]+)/.exec(browser.cookies(this.it.url))?.[1] ?? '';
    return (await findSession(this.it.core.db, token))?.session ?? null;
  }

  async accountOf(browser: Walker): Promise<string> {
    return (await this.sessionOf(browser))?.accountId ?? '';
  }

  async trialOf(accountId: string) {
    return (await balanceOf(this.it.core.db, accountId)).trial;
  }

  async balance(accountId: string): Promise<number> {
    return (await balanceOf(this.it.core.db, accountId)).balance_usd;
  }

  /** As the page of the account links one more identity: by its form, then by the page that leads on. */
  async link(browser: Walker, id: string, headers = {}, token?: string): Promise<Response> {
    const { url, core } = this.it;
    const session = await this.sessionOf(browser);
    const form_token = token ?? (session === null ? '' : formToken(core.secrets, session));
    const answer = await browser.post(`${url}/auth/start/${id}`, { form_token, return_to: '/auth/account' }, headers);
    const onward = answer.headers.get('refresh')?.replace('0; url=', '');
    if (onward === undefined) return answer;
    return browser.get((await browser.walk(onward, `${url}/auth/callback/`)).href);
  }

  /** Answers the question of what goes over, as its page was shown. */
  async agree(browser: Walker, page: string, action = 'merge'): Promise<Response> {
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? '';
    const fields = { form_token: field('form_token'), linking: field('linking'), action };
    return browser.post(`${this.it.url}/auth/link`, fields);
  }

  async linkAndAgree(browser: Walker, id: string): Promise<Response> {
    const asked = await this.link(browser, id);
    return asked.status === 200 ? this.agree(browser, await asked.text()) : asked;
  }

  addKey(accountId: string, name: string | null = null) {
    const { db, secrets } = this.it.core;
    return db.transaction(async (tx) => {
      const nowMs = (await lockAccount(tx, accountId)) as number;
      return createKey(tx, secrets, accountId, { name, scopes: null, expiresAtMs: null, cap: null }, nowMs);
    });
  }
}
