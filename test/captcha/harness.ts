// A service with challenges, and the solver of ALTCHA's library.
import { type Challenge, type Payload, type Solution, solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { type Client, client, createTestAccount, type TestService } from '../support/service.ts';
import { lendService } from '../support/shared-service.ts';

export interface Asked {
  readonly action?: string;
  readonly difficulty?: 'easy' | 'normal' | 'hard';
  readonly expires_seconds?: number;
  readonly hostname?: string;
}

export class CaptchaBench {
  readonly service: TestService;
  readonly accountId: string;
  readonly secret: string;
  readonly call: Client;

  constructor(service: TestService, { accountId, secret }: { accountId: string; secret: string }) {
    this.service = service;
    this.accountId = accountId;
    this.secret = secret;
    this.call = client(service.url, secret);
  }

  static async start(service?: TestService): Promise<CaptchaBench> {
    const running = service ?? (await lendService());
    return new CaptchaBench(running, await createTestAccount(running.core, 5));
  }

  /** Easy ones, where nothing else is asked for. */
  async challenge(asked: Asked = {}): Promise<Challenge> {
    const query = new URLSearchParams(
      Object.entries({ difficulty: 'easy', ...asked }).map(([name, value]) => [name, String(value)]),
    );
    const { body } = await this.call('GET', `/v1/captcha/challenge?${query}`);
    return body.data.challenge;
  }

  async solved(asked: Asked = {}): Promise<string> {
    const challenge = await this.challenge(asked);
    return payloadOf({ challenge, solution: await solutionOf(challenge) });
  }

  /** Another key of the account. */
  async key(...scopes: string[]): Promise<string> {
    const { body } = await this.call('POST', '/v1/account/keys/create', { name: 'pages', scopes });
    return body.data.key_secret;
  }

  /** Challenges of the account whose solutions have counted. */
  async spent(): Promise<readonly unknown[]> {
    const all = { name: 'test_captcha_spent', text: 'SELECT challenge_id FROM captcha.spent WHERE account_id = $1' };
    return (await this.service.core.db.query(all, [this.accountId])).rows;
  }

  async verify(payload: string, expected: { action?: string; difficulty?: string } = {}) {
    const { status, body } = await this.call('POST', '/v1/captcha/verify', { payload, ...expected });
    return status === 200 ? body.data : { status, ...body.error };
  }
}

export async function solutionOf(challenge: Challenge): Promise<Solution> {
  const solution = await solveChallenge({ challenge, deriveKey });
  if (solution === null) throw new Error('the challenge was not solved in time');
  return solution;
}

/** As the widget puts it into the form. */
export function payloadOf(payload: Payload): string {
  return Buffer.from(JSON.stringify(payload)).toString('base64');
}

export function readPayload(payload: string): Payload {
  return JSON.parse(Buffer.from(payload, 'base64').toString('utf8'));
}
