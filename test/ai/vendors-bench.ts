// A service whose file names two vendors of language models, both doubles: acme, the cheaper one, and corp.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { readBills } from '../../src/routing/bills.ts';
import { type Json, OpenaiDouble } from '../support/ai/openai-double.ts';
import { openaiWire, type WireWords } from '../support/ai/wires.ts';
import {
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
  type TestServiceOptions,
} from '../support/service.ts';

/** USD per million tokens. */
export const ACME = { input: 1, output: 2 };
export const CORP = { input: 1.2, output: 2.4 };

const readFunds = {
  name: 'test_ai_vendor_funds',
  text: 'SELECT w.balance_nanos AS balance, w.held_nanos AS held FROM core.wallet w WHERE w.account_id = $1',
};
const closeBreakers = { name: 'test_close_breakers', text: 'DELETE FROM core.vendor_health' };
const forgetCalls = { name: 'test_forget_calls', text: 'DELETE FROM core.vendor_calls' };

const QUICK = { first_content_ms: 1_500, idle_ms: 1_500, total_ms: 20_000 };
/** However busy the machine is, nobody is taken to be silent. */
export const PATIENT = { first_content_ms: 60_000, idle_ms: 60_000, total_ms: 60_000 };

interface Further extends Pick<TestServiceOptions, 'log' | 'admission'> {
  readonly models?: readonly object[];
  readonly embeddings?: { readonly acme?: readonly object[]; readonly corp?: readonly object[] };
  readonly timeouts?: typeof QUICK;
}

export class AiVendors {
  readonly acme: OpenaiDouble;
  readonly corp: OpenaiDouble;
  readonly service: TestService;
  readonly account: TestAccount;
  /** For a second process. */
  readonly env: Record<string, string>;
  readonly #folder: string;

  private constructor(parts: Pick<AiVendors, 'acme' | 'corp' | 'service' | 'account' | 'env'>, folder: string) {
    this.acme = parts.acme;
    this.corp = parts.corp;
    this.service = parts.service;
    this.account = parts.account;
    this.env = parts.env;
    this.#folder = folder;
  }

  /**
   * `model`: further fields of acme's chat model; `wire`: what acme speaks; `settings`: of the service; `models`: further chat models of acme,
   * like that but for these fields; `embeddings`: further models of embeddings; `timeouts`: of both vendors, for tests that wait for nobody's
   * silence.
   */
  static async start(
    model: object = {},
    wire: WireWords = openaiWire,
    settings: Record<string, string> = {},
    { models: more = [], embeddings = {}, timeouts = QUICK, ...options }: Further = {},
  ): Promise<AiVendors> {
    const [acme, corp] = await Promise.all([
      OpenaiDouble.start('Hello from acme.', wire),
      OpenaiDouble.start('Hello from corp.'),
    ]);
    const folder = await mkdtemp(join(tmpdir(), 'qm-ai-'));
    const keyFile = join(folder, 'key');
    await writeFile(keyFile, 'vendor-key', { mode: 0o600 });
    const of = (id: 'acme' | 'corp', double: OpenaiDouble, price: typeof ACME, further: object) => {
      const adapter = id === 'acme' ? wire.adapter : 'openai';
      const chat = {
        id: 'm-1',
        serves: ['ai.chat'],
        price,
        context: 100_000,
        max_output: 1_000,
        tools: true,
        json_schema: true,
        ...further,
      };
      const embedding = {
        id: 'e-1',
        serves: ['ai.embed'],
        price: { input: price.input },
        dimensions: 3,
        embedding_space: 'e',
        ...((id === 'acme') === (wire.adapter === 'openai') ? { default_embedding: true } : {}),
      };
      return {
        id,
        adapter,
        region: 'western',
        base_url: double.url,
        api_key: { file: keyFile },
        timeouts,
        models: [
          chat,
          ...(id === 'acme' ? more : []).map((one) => ({ ...chat, ...one })),
          ...(adapter === 'openai' ? [embedding] : []),
          ...(embeddings[id] ?? []).map((one) => ({ serves: ['ai.embed'], dimensions: 3, ...one })),
        ],
      };
    };
    const vendors = [of('acme', acme, ACME, model), of('corp', corp, CORP, {}), { id: 'sandbox', enabled: false }];
    const file = join(folder, 'vendors.yaml');
    await writeFile(file, stringify({ version: 1, vendors }, { aliasDuplicateObjects: false }));
    const env = { VENDORS_FILE: file };
    const service = await startTestService({ env: { ...env, ...settings }, ...options });
    return new AiVendors({ acme, corp, service, env, account: await createTestAccount(service.core, 1) }, folder);
  }

  call(method: string, path: string, body?: unknown, headers?: Record<string, string>) {
    return client(this.service.url, this.account.secret)(method, path, body, headers);
  }

  /** Calls as another account, with so much. */
  async poor(usd: number) {
    return client(this.service.url, (await createTestAccount(this.service.core, usd)).secret);
  }

  /** The text of a streamed answer, its events, and its last metadata. */
  async stream(body: Json, signal?: AbortSignal) {
    const response = await fetch(`${this.service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.account.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, stream: true }),
      ...(signal === undefined ? {} : { signal }),
    });
    const raw = await response.text();
    const frames = raw.split('\n\n').flatMap((text) => (text.startsWith('data: ') ? [text.slice(6)] : []));
    const events = frames.filter((text) => text !== '[DONE]').map((text): Json => JSON.parse(text));
    const text = events.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join('');
    return {
      status: response.status,
      headers: response.headers,
      raw,
      events,
      text,
      isWhole: frames.at(-1) === '[DONE]',
    };
  }

  async funds(): Promise<{ readonly balance: bigint; readonly held: bigint }> {
    const { rows } = await this.service.core.db.query<{ balance: bigint; held: bigint }>(readFunds, [
      this.account.accountId,
    ]);
    return rows[0] as { balance: bigint; held: bigint };
  }

  /** What `act` takes from the wallet; nothing is held afterwards. */
  async spent(act: () => Promise<unknown>): Promise<bigint> {
    const before = await this.funds();
    await act();
    const after = await this.funds();
    if (after.held !== 0n) throw new Error(`${after.held} nano-USD are held`);
    return before.balance - after.balance;
  }

  bills() {
    return readBills(this.service.core.db, 0, null);
  }

  /** Vendors are asked again, whatever they did before. */
  async forgive(): Promise<void> {
    this.acme.reset();
    this.corp.reset();
    const { db, vendors } = this.service.core;
    // What a call did to a breaker is written behind it, and what it counted is written with the next reading.
    await vendors.health.awaitChanges();
    for (let quiet = 0; quiet < 3; ) {
      const [rows] = await Promise.all([db.query(closeBreakers, []), db.query(forgetCalls, [])]);
      await vendors.health.sync();
      quiet = rows.count === 0 && vendors.health.standings().length === 0 ? quiet + 1 : 0;
      await sleep(5);
    }
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await Promise.all([this.acme.stop(), this.corp.stop(), rm(this.#folder, { recursive: true })]);
  }
}
