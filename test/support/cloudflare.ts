// Cloudflare's API v4 as a real HTTP server, in the shapes of its documentation: zones by name, pages of DNS records, and batches that are done whole or not
// at all (https://developers.cloudflare.com/api/resources/dns/subresources/records/methods/batch).
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

// biome-ignore lint/suspicious/noExplicitAny: records of every shape
type Fields = Record<string, any>;

export interface CloudflareDouble {
  readonly baseUrl: string;
  readonly key: string;
  /** Records of a zone, as they are listed. */
  readonly zones: Map<string, Fields[]>;
  /** `METHOD /path?query` of each request. */
  readonly calls: readonly string[];
  /** Answers the next request whose path contains the text so; `null`: closes its connection. */
  answerNext(
    path: string,
    answer: { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> } | null,
  ): void;
  /** Runs before the next batch is done, as another writer would. */
  beforeNextBatch(act: () => void): void;
  /** Adds a record as the dashboard would. */
  add(zone: string, record: Fields): void;
  stop(): Promise<void>;
}

const NAME_SERVERS = ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'];
const id = () => randomBytes(16).toString('hex');

export async function startCloudflare(names: readonly string[]): Promise<CloudflareDouble> {
  const double = new Double(names);
  await double.listen();
  return double;
}

interface Scripted {
  readonly path: string;
  readonly answer: Parameters<CloudflareDouble['answerNext']>[1];
}

class Double implements CloudflareDouble {
  readonly key = id();
  readonly zones: Map<string, Fields[]>;
  readonly calls: string[] = [];
  baseUrl = '';
  readonly #ids: ReadonlyMap<string, string>;
  readonly #scripted: Scripted[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #before: (() => void) | null = null;

  constructor(names: readonly string[]) {
    this.zones = new Map(names.map((name) => [name, []]));
    this.#ids = new Map(names.map((name) => [id(), name]));
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.baseUrl = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  answerNext(path: string, answer: Scripted['answer']): void {
    this.#scripted.push({ path, answer });
  }

  beforeNextBatch(act: () => void): void {
    this.#before = act;
  }

  add(zone: string, record: Fields): void {
    this.zones.get(zone)?.push(storedRecord(record, zone));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://double');
    this.calls.push(`${request.method} ${url.pathname}${url.search}`);
    const body = await text(request);
    const at = this.#scripted.findIndex(({ path }) => url.pathname.includes(path));
    const [next] = at === -1 ? [] : this.#scripted.splice(at, 1);
    if (next?.answer === null) return void request.socket.destroy();
    if (next !== undefined) return send(response, next.answer.status, next.answer.body, next.answer.headers);
    if (request.headers.authorization !== `Bearer ${this.key}`) {
      return send(response, 403, failure(10_000, 'Authentication error'));
    }
    const [status, answer] = url.pathname === '/zones' ? this.#zonesNamed(url) : this.#ofZone(url, body);
    send(response, status, answer);
  }

  #zonesNamed({ searchParams }: URL): readonly [number, object] {
    const found = [...this.#ids].filter(([, name]) => name === searchParams.get('name'));
    const result = found.map(([each, name]) => ({
      id: each,
      name,
      status: 'active',
      paused: false,
      name_servers: NAME_SERVERS,
    }));
    return [200, listAnswer(result, 1, 50)];
  }

  #ofZone({ pathname, searchParams }: URL, body: string): readonly [number, object] {
    const [, zoneId = '', batch] = /^\/zones\/([0-9a-f]{32})\/dns_records(\/batch)?$/.exec(pathname) ?? [];
    const zone = this.#ids.get(zoneId);
    if (zone === undefined) return [404, failure(7_003, 'Could not route')];
    if (batch !== undefined) return this.#batch(zone, JSON.parse(body) as Batch);
    return [
      200,
      listAnswer(this.zones.get(zone) ?? [], Number(searchParams.get('page')), Number(searchParams.get('per_page'))),
    ];
  }

  #batch(zone: string, { deletes, posts }: Batch): readonly [number, object] {
    this.#before?.();
    this.#before = null;
    const left = new Map((this.zones.get(zone) ?? []).map((record) => [record.id as string, record]));
    if (deletes.length + posts.length > 200) return [400, failure(9_207, 'Too many operations')];
    for (const { id: gone } of deletes) {
      if (!left.delete(gone)) return [404, failure(81_044, 'Record does not exist.')];
    }
    for (const post of posts) {
      const fault = faultOf(post, [...left.values()]);
      if (fault !== null) return [400, fault];
      const made = storedRecord(post, zone);
      left.set(made.id, made);
    }
    this.zones.set(zone, [...left.values()]);
    const result = { deletes, patches: [], puts: [], posts };
    return [200, { success: true, errors: [], messages: [], result }];
  }
}

interface Batch {
  readonly deletes: Fields[];
  readonly posts: Fields[];
}

/** As it is listed: whole names, `content` of what has `data`, and what the service adds. */
function storedRecord(sent: Fields, zone: string): Fields {
  const { name, type, data, ttl = 1, priority, proxied = false } = sent;
  const content =
    type === 'SRV'
      ? `${data.priority} ${data.weight} ${data.port} ${data.target}`
      : type === 'CAA'
        ? `${data.flags} ${data.tag} "${data.value}"`
        : sent.content;
  return {
    id: id(),
    zone_name: zone,
    name: name.endsWith(zone) ? name : `${name}.${zone}`,
    type,
    content,
    ttl,
    proxied,
    proxiable: ['A', 'AAAA', 'CNAME'].includes(type),
    settings: {},
    meta: {},
    comment: null,
    tags: [],
    ...(data === undefined ? {} : { data }),
    ...(priority === undefined ? {} : { priority }),
    created_on: '2026-11-01T00:00:00.000000Z',
    modified_on: '2026-11-01T00:00:00.000000Z',
  };
}

function faultOf({ name, type, ttl, content, data, priority }: Fields, records: readonly Fields[]): object | null {
  if (ttl !== 1 && (ttl < 60 || ttl > 86_400))
    return failure(9_021, 'Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic.');
  if (type === 'MX' && typeof priority !== 'number') return failure(9_100, 'priority is a required field.');
  if (['SRV', 'CAA'].includes(type) && typeof data !== 'object') return failure(9_101, 'data is a required field.');
  if (!['SRV', 'CAA'].includes(type) && typeof content !== 'string')
    return failure(9_009, 'content is a required field.');
  if (type === 'TXT' && !/^".*"$/.test(content))
    return failure(9_106, 'The content field of TXT records must be in quotation marks.');
  if (/\.$/.test(type === 'CNAME' ? content : '')) return failure(9_007, 'Content for CNAME record is invalid.');
  const beside = records.filter((record) => record.name === name);
  if (beside.some((record) => record.type === type && record.content === content))
    return failure(81_058, 'An identical record already exists.');
  if (beside.some((record) => (record.type === 'CNAME') !== (type === 'CNAME'))) {
    return failure(81_053, 'An A, AAAA, or CNAME record with that host already exists.');
  }
  return null;
}

const failure = (code: number, message: string) => ({
  success: false,
  errors: [{ code, message }],
  messages: [],
  result: null,
});

function listAnswer(all: readonly Fields[], page: number, size: number): object {
  const result = all.slice((page - 1) * size, page * size);
  const info = {
    page,
    per_page: size,
    count: result.length,
    total_count: all.length,
    total_pages: Math.ceil(all.length / size),
  };
  return { success: true, errors: [], messages: [], result, result_info: info };
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
