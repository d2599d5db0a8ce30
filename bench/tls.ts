// What does TLS in the service cost, and HTTP/2? Processor time of the service for the no-op by plain HTTP/1.1, by TLS with HTTP/1.1 on
// open connections, and by HTTP/2, in turns side by side; and what a handshake costs.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent as PlainAgent, request as plain } from 'node:http';
import { connect } from 'node:http2';
import { Agent, request as secure } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '../test/outbound/certificate.ts';
import { BODY } from './support/flows.ts';
import { fineSeconds } from './support/processor.ts';
import { median, print } from './support/report.ts';
import { type BenchAccount, type BenchService, startBenchService } from './support/service.ts';

const AT_ONCE = 32;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
const MS = Number(process.env.BENCH_SECONDS ?? 0.5) * 1_000;
const PATH = '/v1/bench/noop';

const folder = mkdtempSync(join(tmpdir(), 'qm-bench-tls-'));
const { key, cert } = selfSigned([], ['127.0.0.1']);
const files = { TLS_CERT: join(folder, 'cert.pem'), TLS_KEY: join(folder, 'key.pem') };
writeFileSync(files.TLS_CERT, cert);
writeFileSync(files.TLS_KEY, key);
const services = { plain: await startBenchService(1), tls: await startBenchService(1, 'off', 1, files) };

const headersOf = ({ accounts: [account] }: BenchService) => ({
  authorization: `Bearer ${(account as BenchAccount).secret}`,
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(BODY)),
});

function byHttp1(service: BenchService, send: typeof secure, agent: PlainAgent): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', agent, headers: headersOf(service), ca: cert };
    const sent = send(service.url + PATH, options, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode));
    });
    sent.once('error', reject).end(BODY);
  });
}

const session = connect(services.tls.url, { ca: cert });
function byHttp2(): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': 'POST', ':path': PATH, ...headersOf(services.tls) });
    stream.once('response', ({ ':status': status }) => stream.once('end', () => resolve(status)));
    stream.once('error', reject).resume().end(BODY);
  });
}

const open = { keepAlive: true, maxSockets: AT_ONCE };
const [plainAgent, tlsAgent] = [new PlainAgent(open), new Agent(open)];
const anew = new Agent({ keepAlive: false, maxSockets: AT_ONCE, maxCachedSessions: 0 });
const ways: [string, BenchService, () => Promise<unknown>][] = [
  ['HTTP/1.1, plain', services.plain, () => byHttp1(services.plain, plain, plainAgent)],
  ['HTTP/1.1, TLS', services.tls, () => byHttp1(services.tls, secure, tlsAgent)],
  ['HTTP/2, TLS, one connection', services.tls, byHttp2],
  ['HTTP/1.1, TLS, a connection a call', services.tls, () => byHttp1(services.tls, secure, anew)],
];

/** Microseconds of the service's processor time a call. */
async function turn(service: BenchService, ask: () => Promise<unknown>): Promise<number> {
  const untilMs = performance.now() + MS;
  const before = fineSeconds([service.pid]);
  let calls = 0;
  let failed = 0;
  const one = async () => {
    for (; performance.now() < untilMs; calls += 1) if ((await ask()) !== 200) failed += 1;
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  // A busy machine refuses some.
  if (failed > calls / 100) throw new Error(`${failed} of ${calls} calls failed`);
  return ((fineSeconds([service.pid]) - before) / calls) * 1e6;
}

const taken = new Map<string, number[]>(ways.map(([name]) => [name, []]));
for (let round = -3; round < ROUNDS; round += 1) {
  for (const [name, service, ask] of ways) {
    const us = await turn(service, ask);
    // The first ones warm up.
    if (round >= 0) taken.get(name)?.push(us);
  }
}
const usOf = (name: string) => median(taken.get(name) as number[]);
print(
  `The no-op by TLS, ${AT_ONCE} at once: processor time of Node a call (${ROUNDS} interleaved turns of ${MS} ms)`,
  ways.map(([name]) => ({
    what: name,
    value: `${Math.round(usOf(name))} µs, ${(usOf(name) / usOf('HTTP/1.1, plain')).toFixed(2)} × plain`,
  })),
);
session.close();
for (const agent of [plainAgent, tlsAgent, anew]) agent.destroy();
for (const service of Object.values(services)) await service.stop();
rmSync(folder, { recursive: true });
