// One service and short ways to call it for tests of analytics.
import { BlockStore } from '../../src/blocks/store.ts';
import { analyticsKind } from '../../src/modules/analytics/events/kind.ts';
import { createAnalyticsState } from '../../src/modules/analytics/state.ts';
import { analyticsSweeps } from '../../src/modules/analytics/sweeps.ts';
import { AccountBench, type Data, sweepAll } from '../support/bench.ts';

export const DAY_MS = 86_400_000;
export const ago = (days: number, ms = 0) => new Date(Date.now() - days * DAY_MS + ms).toISOString();

export class AnalyticsBench extends AccountBench {
  get host(): string {
    return `${this.service.url}/v1/analytics/posthog`;
  }

  capture(body: unknown): Promise<Data> {
    return this.ok('POST', '/v1/analytics/capture', body);
  }

  ask(what: 'trends' | 'funnel' | 'retention', body: unknown): Promise<Data> {
    return this.ok('POST', `/v1/analytics/${what}`, body);
  }

  async events(query: Record<string, string> = {}): Promise<Data[]> {
    return (await this.ok('GET', `/v1/analytics/events?${new URLSearchParams({ limit: '100', ...query })}`)).items;
  }

  /** A key as a web page has it. */
  async publicKey(): Promise<string> {
    const made = await this.ok('POST', '/v1/account/keys/create', { name: 'page', scopes: ['analytics.capture'] });
    return made.key_secret ?? made.key?.key_secret;
  }

  async balance(): Promise<bigint> {
    const { rows } = await this.service.core.db.query<{ nanos: bigint }>(
      { name: '', text: 'SELECT balance_nanos AS nanos FROM core.wallet WHERE account_id = $1' },
      [this.account.accountId],
    );
    return (rows[0] as { nanos: bigint }).nanos;
  }

  /** Runs background tasks until they have nothing to do. */
  async sweep(...names: string[]): Promise<void> {
    const sweeps = analyticsSweeps(createAnalyticsState(this.service.core));
    for (const name of names) await sweepAll(sweeps, `analytics.${name}`);
  }

  blocks() {
    const store = new BlockStore(this.service.core, analyticsKind);
    return store.list(this.account.accountId, { fromMs: 0, toMs: Date.now() + DAY_MS });
  }
}
