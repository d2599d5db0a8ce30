// One service and short ways to call it for tests of metrics.
import protobuf from 'protobufjs/minimal.js';
import { compress } from 'snappyjs';
import { expect } from 'vitest';
import { BlockStore } from '../../src/blocks/store.ts';
import { samplesKind } from '../../src/modules/metrics/samples/kind.ts';
import { AccountBench, type Data, sweepAll } from '../support/bench.ts';

export interface SentSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Milliseconds with values. */
  readonly samples: readonly (readonly [timeMs: number, value: number | bigint])[];
}

export class MetricsBench extends AccountBench {
  ingest(points: readonly object[]): Promise<Data> {
    return this.ok('POST', '/v1/metrics/ingest', { items: points });
  }

  get prometheus(): string {
    return `${this.service.url}/v1/metrics/prometheus`;
  }

  /** Remote write; answers status and text. */
  async write(
    series: readonly SentSeries[],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; text: string }> {
    return this.writeBytes(Buffer.from(compress(writeRequest(series))), headers);
  }

  async writeBytes(body: Buffer, headers: Readonly<Record<string, string>> = {}) {
    const reply = await fetch(`${this.prometheus}/api/v1/write`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.account.secret}`,
        'content-type': 'application/x-protobuf',
        'content-encoding': 'snappy',
        'x-prometheus-remote-write-version': '0.1.0',
        ...headers,
      },
      body: new Uint8Array(body),
    });
    return { status: reply.status, text: await reply.text() };
  }

  /** A call of Prometheus' API; answers its data. */
  async prom(path: string, form: Readonly<Record<string, string>> = {}, method: 'GET' | 'POST' = 'GET'): Promise<Data> {
    const { status, body } = await this.promAnswer(path, form, method);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data;
  }

  async promAnswer(path: string, form: Readonly<Record<string, string>> = {}, method: 'GET' | 'POST' = 'GET') {
    const sent = new URLSearchParams(form);
    const url = `${this.prometheus}/api/v1/${path}${method === 'GET' ? `?${sent}` : ''}`;
    const authorization = `Basic ${Buffer.from(`any:${this.account.secret}`).toString('base64')}`;
    const reply = await fetch(url, {
      method,
      headers: { authorization },
      ...(method === 'POST' ? { body: sent } : {}),
    });
    return { status: reply.status, body: (await reply.json()) as Data };
  }

  /** Merges what there is to merge. */
  merge(): Promise<void> {
    return sweepAll(new BlockStore(this.service.core, samplesKind).sweeps(), 'metrics.merge');
  }

  end(): Promise<void> {
    return this.service.stop();
  }
}

/** A WriteRequest. A value given as bigint is sent as these bits. */
export function writeRequest(series: readonly SentSeries[]): Buffer {
  const out = protobuf.Writer.create();
  for (const { labels, samples } of series) {
    out.uint32(10).fork();
    for (const [name, value] of Object.entries(labels)) {
      out.uint32(10).fork().uint32(10).string(name).uint32(18).string(value).ldelim();
    }
    for (const [timeMs, value] of samples) {
      out.uint32(18).fork().uint32(9);
      if (typeof value === 'bigint') {
        out.fixed32(Number(value & 0xffffffffn)).fixed32(Number(value >> 32n));
      } else out.double(value);
      out.uint32(16).int64(timeMs).ldelim();
    }
    out.ldelim();
  }
  return Buffer.from(out.finish());
}

export const STALE = 0x7ff0000000000002n;
