// Debian's Prometheus and victoria-metrics, fed by remote write, as those whose answers ours must equal.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import protobuf from 'protobufjs/minimal.js';
import { compress } from 'snappyjs';
import type { Series } from '../../src/modules/metrics/promql/values.ts';
import { freePort } from '../support/process.ts';

const PROMETHEUS = '/usr/bin/prometheus';
const VICTORIA = '/usr/bin/victoria-metrics';
export const hasPrometheus = existsSync(PROMETHEUS);
export const hasVictoria = existsSync(VICTORIA);

export interface Prometheus {
  readonly url: string;
  readonly pid: number;
  write(series: readonly Series[]): Promise<void>;
  /** Path below /api/v1 and its parameters, to its answer. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of another program
  ask(path: string, parameters: Readonly<Record<string, string>>, method?: 'GET' | 'POST'): Promise<any>;
  stop(): Promise<void>;
}

/** `configOf` gets its own port. */
export function startPrometheus(configOf = (_port: number) => 'global: {}\n'): Promise<Prometheus> {
  return start(PROMETHEUS, '-/ready', (folder, port) => {
    writeFileSync(join(folder, 'prometheus.yml'), configOf(port));
    return [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      ...['--web.enable-remote-write-receiver', '--log.level=error'],
    ];
  });
}

/** Debian's victoria-metrics, which takes the same writes and, for the most part, the same queries. */
export function startVictoria(): Promise<Prometheus> {
  return start(VICTORIA, 'health', (folder, port) => [
    `-storageDataPath=${join(folder, 'data')}`,
    `-httpListenAddr=127.0.0.1:${port}`,
    ...['-search.latencyOffset=0s', '-search.disableCache', '-loggerLevel=ERROR', '-memory.allowedBytes=268435456'],
  ]);
}

async function start(
  program: string,
  ready: string,
  argsOf: (folder: string, port: number) => string[],
): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'qm-peer-'));
  const port = await freePort();
  const child: ChildProcess = spawn(program, argsOf(folder, port), { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/${ready}`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    await sleep(50);
  }
  return {
    url,
    pid: child.pid as number,
    async write(series) {
      const reply = await fetch(`${url}/api/v1/write`, {
        method: 'POST',
        body: remoteWrite(series),
        headers: remoteWriteHeaders,
      });
      if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`);
      // Makes what was written visible at once.
      if (program === VICTORIA) await fetch(`${url}/internal/force_flush`);
    },
    async ask(path, parameters, method = 'POST') {
      const form = new URLSearchParams(parameters);
      const reply = await (method === 'GET'
        ? fetch(`${url}/api/v1/${path}?${form}`)
        : fetch(`${url}/api/v1/${path}`, { method, body: form }));
      return reply.json();
    },
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const remoteWriteHeaders = {
  'content-type': 'application/x-protobuf',
  'content-encoding': 'snappy',
  'x-prometheus-remote-write-version': '0.1.0',
};

const bytesField = (number: number) => (number << 3) | 2;

/** The body of a request of remote write 1.0. */
export function remoteWrite(series: readonly Series[]): Buffer<ArrayBuffer> {
  const out = protobuf.Writer.create();
  for (const { labels, times, values } of series) {
    out.uint32(bytesField(1)).fork();
    for (const [name, value] of labels) {
      out.uint32(bytesField(1)).fork().uint32(bytesField(1)).string(name).uint32(bytesField(2)).string(value).ldelim();
    }
    for (const [i, time] of times.entries()) {
      out
        .uint32(bytesField(2))
        .fork()
        .uint32((1 << 3) | 1)
        .double(values[i] as number);
      out
        .uint32(2 << 3)
        .int64(time)
        .ldelim();
    }
    out.ldelim();
  }
  return Buffer.from(compress(Buffer.from(out.finish())) as Uint8Array<ArrayBuffer>);
}
