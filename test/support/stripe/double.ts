// A double of Stripe for the unchanged package: an HTTP server with one account. Idempotency keys are honoured as Stripe does, and it
// fails on demand, before or after the effect.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import Stripe from 'stripe';
import { StripeAccount, type StripeEvent } from './account.ts';
import { endpoints } from './api.ts';
import { type Fields, readForm } from './form.ts';
import { invalid, missing, Refused } from './objects.ts';

export const SECRET_KEY = 'sk_test_0000000000000000000000';
export const WEBHOOK_SECRET = 'whsec_0000000000000000000000';

/** What happens to the next request that `at` matches: nothing is answered, 500, or it takes a second; before or after the effect. */
export interface Fault {
  readonly at: RegExp;
  readonly how: 'reset' | '500' | 'slow';
  readonly when: 'before' | 'after';
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Kept {
  readonly request: string;
  readonly answer: Answer;
}

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
}

export class StripeDouble {
  readonly account = new StripeAccount();
  readonly faults: Fault[] = [];
  readonly seen: Seen[] = [];
  readonly #server: Server;
  readonly #kept = new Map<string, Kept>();

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(): Promise<StripeDouble> {
    const double = new StripeDouble();
    double.#server.listen(0, '127.0.0.1');
    await once(double.#server, 'listening');
    return double;
  }

  /** For STRIPE_API_BASE. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Headers and body of the message that tells the event. */
  message(event: StripeEvent, secret = WEBHOOK_SECRET): { headers: Record<string, string>; body: string } {
    const body = JSON.stringify(event);
    const signature = Stripe.webhooks.generateTestHeaderString({ payload: body, secret });
    return { headers: { 'stripe-signature': signature, 'content-type': 'application/json' }, body };
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', headers } = request;
    const url = new URL(request.url ?? '', this.url);
    const body = await text(request);
    const key = (headers['idempotency-key'] as string | undefined) ?? null;
    this.seen.push({ method, path: url.pathname, key });
    const faultAt = this.faults.findIndex(({ at }) => at.test(`${method} ${url.pathname}`));
    const [fault] = faultAt === -1 ? [] : this.faults.splice(faultAt, 1);
    if (fault?.when === 'before' && (await fails(fault, response))) return;
    const refusal = refusedHead(headers);
    const work = () => this.#answer(method, url.pathname, { ...readForm(url.search.slice(1)), ...readForm(body) });
    const answer =
      refusal ??
      (method === 'GET' || key === null ? work() : this.#once(key, `${method} ${url.pathname} ${body}`, work));
    if (fault?.when === 'after' && (await fails(fault, response))) return;
    response.writeHead(answer.status, { 'content-type': 'application/json', 'request-id': this.account.newId('req') });
    response.end(JSON.stringify(answer.body));
  }

  #once(key: string, request: string, work: () => Answer): Answer {
    const kept = this.#kept.get(key);
    if (kept === undefined) {
      const answer = work();
      // Stripe keeps no answer of a request that its checks refused.
      if (answer.status !== 400 && answer.status !== 404) this.#kept.set(key, { request, answer });
      return answer;
    }
    if (kept.request === request) return kept.answer;
    return errorAnswer(
      new Refused(400, { type: 'idempotency_error', message: 'The key was used for another request.' }),
    );
  }

  #answer(method: string, path: string, { expand, ...fields }: Fields): Answer {
    try {
      for (const endpoint of endpoints) {
        const match = endpoint.method === method ? endpoint.path.exec(path) : null;
        if (match === null) continue;
        const unknown = Object.keys(fields).find((name) => !endpoint.takes.includes(name));
        if (unknown !== undefined)
          throw invalid(unknown, 'parameter_unknown', `Received unknown parameter: ${unknown}`);
        const answer = structuredClone(endpoint.run(this.account, match[1] ?? '', fields));
        for (const part of Array.isArray(expand) ? expand : []) this.#expand(answer, String(part).split('.'));
        return { status: 200, body: answer };
      }
      throw missing(path);
    } catch (error) {
      if (error instanceof Refused) return errorAnswer(error);
      throw error;
    }
  }

  /** Puts the object in the place of its id. */
  #expand(object: unknown, [name = '', ...rest]: string[]): void {
    if (Array.isArray(object)) {
      for (const each of object) this.#expand(each, [name, ...rest]);
      return;
    }
    const holder = object as Record<string, unknown>;
    const id = holder[name];
    if (typeof id === 'string') holder[name] = structuredClone(this.account.find(id));
    if (rest.length > 0 && holder[name] !== null && holder[name] !== undefined) this.#expand(holder[name], rest);
  }
}

/** Whether the request ends with it. */
async function fails({ how }: Fault, response: ServerResponse): Promise<boolean> {
  if (how === 'slow') {
    await sleep(1_000);
    return false;
  }
  if (how === 'reset') response.destroy();
  else response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"type":"api_error"}}');
  return true;
}

function refusedHead(headers: IncomingMessage['headers']): Answer | null {
  if (headers.authorization !== `Bearer ${SECRET_KEY}`)
    return errorAnswer(new Refused(401, { type: 'invalid_request_error', message: 'Invalid API Key provided' }));
  if (headers['stripe-version'] !== Stripe.API_VERSION)
    return errorAnswer(new Refused(400, { type: 'invalid_request_error', message: 'Invalid Stripe API version' }));
  return null;
}

function errorAnswer({ status, body }: Refused): Answer {
  return { status, body };
}
