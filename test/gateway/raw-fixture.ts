// A module of raw routes: bytes that are stored and read in parts, text that is made piece by piece for a price, and a protocol that only
// makes calls.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import { basic, bearer } from '../../src/core/credentials/http-schemes.ts';
import { sigV4 } from '../../src/core/credentials/sigv4.ts';
import { priceOfCall } from '../../src/core/wallet/charge/charge.ts';
import { defineCapability } from '../../src/kit/capability.ts';
import { defineModule } from '../../src/kit/module.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../src/kit/raw-route.ts';
import type { CallContext } from '../../src/kit/services.ts';
import { commentText, eventText } from '../../src/lib/event-stream.ts';
import { problem } from '../../src/problems/problem.ts';

export const BLOB_BYTES_MAX = 8 * 1024 * 1024;
export const LETTER_BYTES_MAX = 4 * 1024 * 1024;

export interface DepotState {
  readonly blobs: Map<string, Buffer>;
  /** Bytes of a body that were taken so far. */
  taken: number;
  /** Resolves what an upload, or a story, waits for. */
  gate: Promise<void>;
  /** Pieces that were made of the last story. */
  made: number;
}

const common = { scope: 'write', method: 'POST', idempotent: true, errors: [], events: [], examples: [] } as const;
const run = () => Promise.reject(new Error('only its routes are called'));

const put = defineCapability<DepotState>()({
  ...common,
  path: '/v1/depot/put',
  summary: 'Stores a blob.',
  description: 'Stores a blob.',
  input: Type.Object({}),
  output: Type.Object({}),
  run,
});
const tell = defineCapability<DepotState>()({
  ...common,
  path: '/v1/depot/tell',
  summary: 'Tells a story.',
  description: 'Tells a story, for a price per piece.',
  input: Type.Object({}),
  output: Type.Object({}),
  price: 'vector.query',
  run,
});

const pathOf = ({ params }: RawHead) => `${params.shelf}/${params.key}`;

const blobs: RawRoute<DepotState> = {
  name: 'depot.blobs',
  methods: ['GET', 'HEAD', 'PUT'],
  path: '/depot/{shelf}/{key*}',
  capability: 'depot.put',
  stream: 'both',
  bodyBytesMax: BLOB_BYTES_MAX,
  encodings: 'kept',
  credentialOf: (head) => bearer(head) ?? basic('user', head) ?? sigV4(head, { services: ['s3'] }),
  answer: (request, state) => (request.method === 'PUT' ? store(request, state) : read(request, state)),
  refuse: ({ httpStatus, code, detail = '' }) => ({
    status: httpStatus,
    headers: { 'x-code': code, 'x-detail': detail },
    body: `${code}\n`,
  }),
};

/** The same bodies, compressed. */
const letters: RawRoute<DepotState> = {
  ...blobs,
  name: 'depot.letters',
  methods: ['PUT'],
  path: '/depot-letters/{shelf}/{key}',
  encodings: ['gzip', 'deflate', 'br', 'zstd'],
  inflatedBytesMax: LETTER_BYTES_MAX,
};

/** A body that is there whole; answers what it inflates to. */
const notes: RawRoute<DepotState> = {
  ...blobs,
  name: 'depot.notes',
  methods: ['POST'],
  path: '/depot-notes',
  stream: 'answer',
  bodyBytesMax: 64 * 1024,
  encodings: ['gzip', 'zstd'],
  inflatedBytesMax: LETTER_BYTES_MAX,
  answer: (request, state) =>
    request.inflate(async (blocks) => {
      state.taken = 0;
      const parts: Buffer[] = [];
      for await (const block of blocks) {
        state.taken += block.length;
        parts.push(block);
        await state.gate;
      }
      return { status: 200, headers: {}, body: Buffer.concat(parts) };
    }),
};

async function store(request: RawRequest, state: DepotState): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  const hash = createHash('sha256');
  state.taken = 0;
  for await (const chunk of request.stream as AsyncIterable<Buffer>) {
    await state.gate;
    state.taken += chunk.length;
    hash.update(chunk);
    chunks.push(chunk);
  }
  state.blobs.set(pathOf(request), Buffer.concat(chunks));
  return { status: 201, headers: {}, body: hash.digest('hex') };
}

async function read(request: RawRequest, { blobs: stored }: DepotState): Promise<RawAnswer> {
  const blob = stored.get(pathOf(request));
  if (blob === undefined) throw problem('NOT_FOUND');
  const open = async function* (start: number, end: number) {
    for (let at = start; at <= end; at += 65_536) yield blob.subarray(at, Math.min(at + 65_536, end + 1));
  };
  const lastModifiedMs = Date.UTC(2026, 10, 1);
  return { status: 200, headers: {}, body: { length: blob.length, etag: '"one"', lastModifiedMs, open } };
}

const story: RawRoute<DepotState> = {
  name: 'depot.story',
  methods: ['POST'],
  path: '/depot-story/{pieces}',
  capability: 'depot.tell',
  stream: 'answer',
  bodyBytesMax: 1_024,
  credentialOf: bearer,
  async answer({ ctx, params, query, signal }, state) {
    if (ctx === null) throw problem('UNAUTHORIZED');
    const bill = await holdFor(ctx, 1_000n);
    const pieces = async function* () {
      state.made = 0;
      if (query.has('broken')) throw problem('SERVICE_UNAVAILABLE');
      for (let i = 0; i < Number(params.pieces); i += 1) {
        bill.units += 1n;
        state.made += 1;
        yield eventText({ data: `piece ${i}` });
        if (query.has('break') && i === 2) throw new Error('the story broke');
        if (!query.has('pause') || query.get('pause') === String(i + 1))
          await Promise.race([...(query.has('forever') ? [] : [state.gate]), aborted(signal)]);
        if (signal.aborted) return;
      }
      yield eventText({ event: 'end', data: String(await bill.settle()) });
    };
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
    // A beat before the failure would be its first piece.
    const beat = { everyMs: query.has('broken') ? 10_000 : 50, text: commentText('wait') };
    return { status: 200, headers, body: billed(bill, pieces()), beat, costNanos: () => bill.costNanos };
  },
};

/** Money of a stream: the price of `unitsMax` is held before anything is made, and that of `units` captured at the end. */
async function holdFor(ctx: CallContext, unitsMax: bigint) {
  const { core, accountId, principal, capability, scope, requestId, approval, idempotency } = ctx;
  const { holds } = core;
  const outcome = await holds.authorize({
    accountId,
    principal,
    capability,
    scope,
    requestId,
    approval,
    idempotency,
    units: unitsMax,
    amount: priceOfCall(ctx, unitsMax),
    priceVersion: core.prices.version,
    holdMs: holds.termMs,
    keepMs: 60_000,
  });
  if (outcome.kind === 'refused') throw outcome.problem;
  if (outcome.kind !== 'held') throw new Error(`a hold was ${outcome.kind}`);
  const { holdId } = outcome.hold;
  return {
    units: 0n,
    costNanos: 0n,
    async settle(): Promise<bigint> {
      const { units } = this;
      const end =
        units === 0n
          ? await holds.release(accountId, holdId)
          : await holds.capture(accountId, holdId, { capturedNanos: priceOfCall(ctx, units), units });
      this.costNanos = end?.capturedNanos ?? 0n;
      return this.costNanos;
    },
  };
}

/** However its reading ends, the bill ends with it. */
async function* billed(bill: Awaited<ReturnType<typeof holdFor>>, pieces: AsyncIterable<string>) {
  try {
    yield* pieces;
  } finally {
    await bill.settle();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  await sleep(60_000, undefined, { signal, ref: false }).catch(() => undefined);
}

/** `CAPABILITY\n{input}`; answers the envelope. */
const lines: RawRoute<DepotState> = {
  name: 'depot.lines',
  methods: ['POST'],
  path: '/depot-lines',
  capability: null,
  bodyBytesMax: 64 * 1024,
  async answer(request) {
    await request.identify(basic('password', request));
    const text = request.body.toString();
    const end = text.indexOf('\n');
    const { JsonText } = await import('../../src/lib/json-text.ts');
    const { status, envelope } = await request.invoke(text.slice(0, end), new JsonText(text.slice(end + 1)));
    return { status, headers: { 'content-type': 'application/json' }, body: envelope };
  },
};

export function depotModule(state: DepotState) {
  return defineModule<DepotState>({
    name: 'depot',
    summary: 'Raw routes.',
    status: 'beta',
    capabilities: [put, tell],
    rawRoutes: [blobs, letters, notes, story, lines],
    start: () => state,
  });
}
