// A vendor of videos as a real HTTP server: it speaks one wire, takes jobs, bills what it made, and does what the script says: refuse,
// lose an answer, answer rubbish, without end, or not at all. Beside it stands a host for files, which must never see the key.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type Signer, signerOf } from './callbacks.ts';
import { answerVideo, type VideoBehaviour } from './videos.ts';
import type { DoubleJob, Operation, Refusal, Reply, VendorCallSeen, Wire } from './wire.ts';

export type Fault =
  | { readonly refusal: Refusal; readonly retryAfterS?: number }
  /** Just this, whatever it is. */
  | { readonly reply: Reply }
  /** A proxy's page of that status: no body of the vendor. */
  | { readonly proxy: number }
  /** `lost`: done, and the socket closes. `mute`: done, and nothing comes. `reset`: not done. `silent`: not done, and nothing comes. */
  | 'lost'
  | 'mute'
  | 'reset'
  | 'silent'
  | 'html'
  | 'rubbish'
  | 'endless';

export interface VendorDouble {
  readonly wire: Wire;
  /** What `base_url` is. */
  readonly baseUrl: string;
  readonly key: string;
  readonly assetHost: string;
  /** All that was asked, files included. */
  readonly calls: readonly (VendorCallSeen & { readonly operation: Operation | null })[];
  /** What the host of files was asked. */
  readonly assetCalls: readonly VendorCallSeen[];
  /** Jobs taken, in order. What is removed here is forgotten by the vendor. */
  readonly jobs: DoubleJob[];
  /** Seconds of video on the bill. */
  readonly billedSeconds: number;
  video: VideoBehaviour;
  /** Jobs end by themselves at this poll; null: when the test says so. */
  endsAfterPolls: number | null;
  /** The next calls of an operation, in order. */
  script(operation: Operation, ...faults: readonly Fault[]): void;
  count(operation: Operation): number;
  /** What is left of the script. */
  forget(): void;
  /** A callback as the vendor would send it. */
  callback(job: DoubleJob, options?: { readonly forged?: boolean; readonly atMs?: number }): Callback;
  close(): Promise<void>;
}

export interface Callback {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface DoubleOptions {
  readonly key?: string;
  readonly video?: VideoBehaviour;
  readonly endsAfterPolls?: number | null;
}

export async function startVendor(wire: Wire, options: DoubleOptions = {}): Promise<VendorDouble> {
  const double = new Double(wire, options);
  await double.listen();
  return double;
}

class Double implements VendorDouble {
  readonly wire: Wire;
  readonly key: string;
  readonly calls: (VendorCallSeen & { readonly operation: Operation | null })[] = [];
  readonly assetCalls: VendorCallSeen[] = [];
  readonly jobs: DoubleJob[] = [];
  baseUrl = '';
  assetHost = '';
  video: VideoBehaviour;
  endsAfterPolls: number | null;
  #assetOrigin = '';
  readonly #script = new Map<Operation, Fault[]>();
  readonly #signer: Signer;
  readonly #vendor = createServer((req, res) => void this.#answer(req, res));
  readonly #assets = createServer((req, res) => void this.#answerAsset(req, res));

  constructor(wire: Wire, { key = 'vendor-key-0123456789', video = 'sound', endsAfterPolls = null }: DoubleOptions) {
    this.wire = wire;
    this.key = key;
    this.video = video;
    this.endsAfterPolls = endsAfterPolls;
    this.#signer = signerOf(wire.name);
  }

  async listen(): Promise<void> {
    const [vendor, assets] = await Promise.all([listening(this.#vendor), listening(this.#assets)]);
    this.#assetOrigin = `http://${assets}`;
    this.baseUrl = `http://${vendor}${this.wire.basePath}`;
    this.assetHost = assets;
  }

  get billedSeconds(): number {
    const billed = this.jobs.filter(
      ({ state, started }) => state === 'succeeded' || (state === 'cancelled' && started),
    );
    return billed.reduce((sum, { seconds }) => sum + seconds, 0);
  }

  script(operation: Operation, ...faults: readonly Fault[]): void {
    this.#script.set(operation, [...(this.#script.get(operation) ?? []), ...faults]);
  }

  forget(): void {
    this.#script.clear();
  }

  count(operation: Operation): number {
    return this.calls.filter((call) => call.operation === operation).length;
  }

  callback(job: DoubleJob, { forged = false, atMs = Date.now() }: { forged?: boolean; atMs?: number } = {}): Callback {
    const urls = { base: this.baseUrl, video: this.#videoUrl(job) };
    const bytes = Buffer.from(JSON.stringify(this.wire.callback?.(job, urls) ?? this.wire.status(job, urls).body));
    const headers = this.#signer.headers(job.reference, bytes, atMs);
    return { headers, body: forged ? Buffer.concat([bytes, Buffer.from(' ')]) : bytes };
  }

  /** Afterwards connections are refused. Again is fine. */
  async close(): Promise<void> {
    for (const server of [this.#vendor, this.#assets]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const call = await callSeen(req);
    const path = call.path.slice(this.wire.basePath.length);
    const route = call.path.startsWith(this.wire.basePath) ? this.wire.route(call.method, path) : null;
    this.calls.push({ ...call, operation: route?.operation ?? null });
    if (route === null) send(res, { status: 404, body: '<html>no such page</html>' });
    else this.#serve(route.operation, route.reference, call, res);
  }

  #serve(operation: Operation, reference: string | undefined, call: VendorCallSeen, res: ServerResponse): void {
    const fault = this.#script.get(operation)?.shift();
    if (fault === 'silent') return;
    if (fault === 'reset') res.destroy();
    else if (fault !== undefined && fault !== 'lost' && fault !== 'mute') this.#fail(fault, res);
    else if (!this.#isKnown(operation, call)) send(res, this.wire.refusal('auth'));
    else if (operation === 'video') answerVideo(this.video, res, this.#assetOrigin);
    else {
      const reply = this.#do(operation, reference, call);
      if (fault === 'lost') res.destroy();
      else if (fault !== 'mute') send(res, reply);
    }
  }

  /** fal publishes its keys to everyone. */
  #isKnown(operation: Operation, { headers }: VendorCallSeen): boolean {
    const isPublic = operation === 'keys' && this.wire.name === 'fal';
    return isPublic || headers.authorization === this.wire.authorization(this.key);
  }

  #fail(fault: Exclude<Fault, 'reset' | 'silent' | 'lost' | 'mute'>, res: ServerResponse): void {
    if (fault === 'endless') endless(res);
    else send(res, this.#replyOf(fault));
  }

  #replyOf(fault: Exclude<Fault, 'reset' | 'silent' | 'lost' | 'mute' | 'endless'>): Reply {
    if (fault === 'html') return { status: 200, body: '<html>welcome</html>' };
    if (fault === 'rubbish') return { status: 200, body: { hello: ['world', null, 7] } };
    if ('reply' in fault) return fault.reply;
    if ('proxy' in fault) return { status: fault.proxy, body: '<html>bad gateway</html>' };
    const reply = this.wire.refusal(fault.refusal);
    return fault.retryAfterS === undefined
      ? reply
      : { ...reply, headers: { 'retry-after': String(fault.retryAfterS) } };
  }

  #do(operation: Operation, reference: string | undefined, call: VendorCallSeen): Reply {
    if (operation === 'submit') return this.wire.accepted(this.#take(call), this.baseUrl);
    if (operation === 'keys') return { status: 200, body: this.#signer.published };
    if (operation === 'list') return { status: 200, body: { next: null, previous: null, results: this.#list() } };
    const job = this.jobs.find((each) => each.reference === reference);
    if (job === undefined || (job.purged && operation !== 'poll')) return this.wire.unknownJob();
    if (operation === 'cancel') return this.#cancel(job, call.method);
    if (operation === 'poll') this.#advance(job);
    if (job.purged && this.wire.name !== 'replicate') return this.wire.unknownJob();
    if (operation === 'result') return this.wire.result?.(job, this.#videoUrl(job)) ?? this.wire.unknownJob();
    job.endTold ||= job.state !== 'queued' && job.state !== 'running';
    return this.wire.status(job, { base: this.baseUrl, video: this.#videoUrl(job) });
  }

  #take(call: VendorCallSeen): DoubleJob {
    const reference = this.wire.reference(this.jobs.length);
    const work = this.wire.work(call);
    const job: DoubleJob = { reference, ...work, submitted: call, ...FRESH };
    this.jobs.push(job);
    return job;
  }

  #list(): unknown[] {
    const urls = { base: this.baseUrl, video: '' };
    return [...this.jobs].reverse().map((job) => this.wire.status(job, urls).body);
  }

  #advance(job: DoubleJob): void {
    job.polls += 1;
    if (this.endsAfterPolls === null || (job.state !== 'queued' && job.state !== 'running')) return;
    job.started = true;
    job.state = job.polls >= this.endsAfterPolls ? 'succeeded' : 'running';
  }

  /** DELETE of what is over removes it, as at OpenAI and Ark. */
  #cancel(job: DoubleJob, method: string): Reply {
    const outcome = this.wire.stops(job);
    if (outcome === 'refused' && method === 'DELETE' && job.state !== 'running') {
      job.purged = true;
      return this.wire.answerCancel(job, 'stopped');
    }
    if (outcome !== 'refused') job.state = 'cancelled';
    return this.wire.answerCancel(job, outcome);
  }

  #videoUrl(job: DoubleJob): string {
    return `${this.#assetOrigin}/videos/${job.reference}.mp4`;
  }

  async #answerAsset(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const call = await callSeen(req);
    this.assetCalls.push(call);
    answerVideo(call.path.startsWith('/plain/') ? 'sound' : this.video, res, this.#assetOrigin);
  }
}

const FRESH = {
  state: 'queued',
  word: null,
  progressPct: 0,
  failure: 'other',
  purged: false,
  endTold: false,
  started: false,
  polls: 0,
} as const;

/** @returns host and port. */
function listening(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', () => {
      resolve(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}

async function callSeen(req: IncomingMessage): Promise<VendorCallSeen> {
  const bytes = await buffer(req).catch(() => Buffer.alloc(0));
  const type = req.headers['content-type'] ?? '';
  const { method = '', url: path = '', headers } = req;
  if (!type.startsWith('multipart/')) {
    return {
      method,
      path,
      headers,
      body: type.includes('json') && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined,
    };
  }
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  return { method, path, headers, body: Object.fromEntries(form) };
}

function send(res: ServerResponse, { status, body, headers = {} }: Reply): void {
  const isPage = typeof body === 'string';
  res.writeHead(status, { 'content-type': isPage ? 'text/html' : 'application/json', ...headers });
  res.end(isPage ? body : JSON.stringify(body));
}

function endless(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'application/json' });
  const piece = Buffer.alloc(64 * 1024, '[');
  const more = () => {
    while (!res.destroyed && res.write(piece));
    if (!res.destroyed) res.once('drain', more);
  };
  more();
}
