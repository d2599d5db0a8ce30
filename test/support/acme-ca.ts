// A small certificate authority that speaks ACME (RFC 8555) with dns-01 alone: it checks signatures and nonces, asks a name server for the proof,
// and signs with openssl. For tests of ACME clients.
import { execFile } from 'node:child_process';
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface AcmeCa {
  /** Address of its directory. */
  readonly directory: string;
  /** Names that were proved, in order, each with the number of TXT values that the name server gave. */
  readonly proved: readonly (readonly [name: string, values: number])[];
  stop(): Promise<void>;
}

interface Jwk {
  readonly kty: string;
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
}

interface Authorization {
  readonly name: string;
  readonly isWildcard: boolean;
  readonly token: string;
  status: 'pending' | 'valid' | 'invalid';
}

interface Order {
  readonly names: readonly string[];
  readonly authorizations: readonly number[];
  status: 'pending' | 'ready' | 'valid';
  certificate: string | null;
}

interface Asked {
  readonly jwk: Jwk;
  // biome-ignore lint/suspicious/noExplicitAny: payloads of every shape
  readonly payload: any;
  /** Of what the address names; null: of nothing. */
  readonly id: number | null;
}

type Told = readonly [status: number, shown: unknown, location?: string];

const EC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
const text = (of: string) => Buffer.from(of, 'base64url').toString('utf8');
const digest = (of: string) => createHash('sha256').update(of).digest('base64url');

export async function startAcmeCa(nameServer: string): Promise<AcmeCa> {
  const room = await mkdtemp(join(tmpdir(), 'acme-'));
  const root = ['-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=Test CA'];
  await run('openssl', ['req', '-x509', ...EC_KEY, ...root], { cwd: room });
  const authority = new Authority(room, nameServer);
  const server = createServer((request, response) => void authority.serve(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  authority.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    directory: `${authority.origin}/directory`,
    proved: authority.proved,
    async stop() {
      server.closeAllConnections();
      server.close();
      await rm(room, { recursive: true, force: true });
    },
  };
}

class Authority {
  readonly proved: (readonly [string, number])[] = [];
  origin = '';
  readonly #room: string;
  readonly #nameServer: string;
  readonly #accounts: Jwk[] = [];
  readonly #orders: Order[] = [];
  readonly #authorizations: Authorization[] = [];
  readonly #nonces = new Set<string>();

  constructor(room: string, nameServer: string) {
    this.#room = room;
    this.#nameServer = nameServer;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const nonce = randomBytes(12).toString('base64url');
    this.#nonces.add(nonce);
    const [status, shown, location] = await this.#answer(
      request.url ?? '',
      Buffer.concat(chunks).toString('utf8'),
    ).catch(({ message }: Error): Told => [400, { type: `urn:ietf:params:acme:error:${message}`, detail: message }]);
    const isText = typeof shown === 'string';
    response.writeHead(status, {
      'content-type': isText ? 'application/pem-certificate-chain' : 'application/json',
      'replay-nonce': nonce,
      ...(location === undefined ? {} : { location }),
    });
    response.end(isText ? shown : JSON.stringify(shown));
  }

  async #answer(path: string, body: string): Promise<Told> {
    const [, what = '', number] = path.split('/');
    if (what === 'nonce') return [200, ''];
    if (what === 'directory') {
      const at = (name: string) => `${this.origin}/${name}`;
      return [
        200,
        { newNonce: at('nonce'), newAccount: at('account'), newOrder: at('order'), revokeCert: at('revoke') },
      ];
    }
    const answers: Readonly<Record<string, (asked: Asked) => Told | Promise<Told>>> = {
      account: (asked) => this.#account(asked),
      order: (asked) => this.#order(asked),
      authz: (asked) => this.#authorization(asked),
      challenge: (asked) => this.#prove(asked),
      finalize: (asked) => this.#finalize(asked),
      cert: ({ id }) => [200, this.#orders[id as number]?.certificate],
    };
    const asked = { ...this.#verifySigned(body), id: number === undefined ? null : Number(number) };
    return answers[what]?.(asked) ?? [404, { type: 'urn:ietf:params:acme:error:malformed', detail: path }];
  }

  #verifySigned(body: string): Omit<Asked, 'id'> {
    const sent = JSON.parse(body) as { protected: string; payload: string; signature: string };
    const head = JSON.parse(text(sent.protected)) as { nonce: string; jwk?: Jwk; kid?: string };
    if (!this.#nonces.delete(head.nonce)) throw new Error('badNonce');
    const jwk = head.jwk ?? this.#accounts[Number(head.kid?.split('/').at(-1))];
    if (jwk === undefined) throw new Error('accountDoesNotExist');
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
    const signed = Buffer.from(`${sent.protected}.${sent.payload}`);
    const signature = Buffer.from(sent.signature, 'base64url');
    if (!verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature)) throw new Error('badSignature');
    return { jwk, payload: sent.payload === '' ? null : JSON.parse(text(sent.payload)) };
  }

  #account({ jwk, id }: Asked): Told {
    if (id === null) this.#accounts.push(jwk);
    const location = `${this.origin}/account/${this.#accounts.length - 1}`;
    return [id === null ? 201 : 200, { status: 'valid', orders: `${this.origin}/orders` }, location];
  }

  #order({ payload, id }: Asked): Told {
    if (id !== null) return [200, this.#shownOrder(id)];
    const names = payload.identifiers.map(({ value }: { value: string }) => value) as string[];
    const authorizations = names.map((name) => {
      const isWildcard = name.startsWith('*.');
      const token = randomBytes(16).toString('base64url');
      return this.#authorizations.push({ name: name.replace('*.', ''), isWildcard, token, status: 'pending' }) - 1;
    });
    const made = this.#orders.push({ names, authorizations, status: 'pending', certificate: null }) - 1;
    return [201, this.#shownOrder(made), `${this.origin}/order/${made}`];
  }

  #shownOrder(id: number) {
    const { status, names, authorizations, certificate } = this.#orders[id] as Order;
    return {
      status,
      finalize: `${this.origin}/finalize/${id}`,
      identifiers: names.map((value) => ({ type: 'dns', value })),
      authorizations: authorizations.map((each) => `${this.origin}/authz/${each}`),
      ...(certificate === null ? {} : { certificate: `${this.origin}/cert/${id}` }),
    };
  }

  #authorization({ id }: Asked): Told {
    const { name, isWildcard, status } = this.#authorizations[id as number] as Authorization;
    const challenges = [this.#shownChallenge(id as number)];
    return [
      200,
      { status, identifier: { type: 'dns', value: name }, challenges, ...(isWildcard ? { wildcard: true } : {}) },
    ];
  }

  #shownChallenge(id: number) {
    const { status, token } = this.#authorizations[id] as Authorization;
    return { type: 'dns-01', url: `${this.origin}/challenge/${id}`, token, status };
  }

  /** Looks for the proof for five seconds. */
  async #prove({ id, jwk: { crv, kty, x, y } }: Asked): Promise<Told> {
    const authorization = this.#authorizations[id as number] as Authorization;
    const { name, token, isWildcard } = authorization;
    const wanted = digest(`${token}.${digest(JSON.stringify({ crv, kty, x, y }))}`);
    const resolver = new Resolver();
    resolver.setServers([this.#nameServer]);
    for (let left = 50; left > 0 && authorization.status === 'pending'; left -= 1) {
      const values = await resolver.resolveTxt(`_acme-challenge.${name}`).catch(() => []);
      if (values.some((pieces) => pieces.join('') === wanted)) {
        authorization.status = 'valid';
        this.proved.push([isWildcard ? `*.${name}` : name, values.length]);
      } else await sleep(100);
    }
    if (authorization.status === 'pending') authorization.status = 'invalid';
    for (const order of this.#orders) {
      const isProved = order.authorizations.every((each) => this.#authorizations[each]?.status === 'valid');
      if (order.status === 'pending' && isProved) order.status = 'ready';
    }
    return [200, this.#shownChallenge(id as number)];
  }

  async #finalize({ id, payload }: Asked): Promise<Told> {
    await writeFile(join(this.#room, `${id}.csr`), Buffer.from(payload.csr, 'base64url'));
    const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '1', '-copy_extensions', 'copy'];
    const request = ['x509', '-req', '-inform', 'DER', '-in', `${id}.csr`, ...by, '-out', `${id}.pem`];
    await run('openssl', request, { cwd: this.#room });
    const readFileInRoom = (name: string) => readFile(join(this.#room, name), 'utf8');
    const order = this.#orders[id as number] as Order;
    order.certificate = (await readFileInRoom(`${id}.pem`)) + (await readFileInRoom('ca.pem'));
    order.status = 'valid';
    return [200, this.#shownOrder(id as number), `${this.origin}/order/${id}`];
  }
}
