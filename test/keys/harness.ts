// The account module on a real database, called as the gateway calls it: a key is looked up, its scopes checked, the capability run.

import { Assets } from '../../src/assets/assets.ts';
import { BlockThreads } from '../../src/blocks/threads.ts';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { admission } from '../../src/core/admission.ts';
import { lockAccount } from '../../src/core/callers/lock.ts';
import { knownScopesOf, scopesAllow } from '../../src/core/callers/scopes.ts';
import { invalidKey, secretInGrace } from '../../src/core/keys/api-key.ts';
import { createKey, type NewKey } from '../../src/core/keys/changes.ts';
import { KeyRing } from '../../src/core/keys/ring.ts';
import { LongCalls } from '../../src/core/outbound/long-calls.ts';
import { OwnCalls } from '../../src/core/own-calls.ts';
import { createLog } from '../../src/core/process/log.ts';
import { ProcessRegistry } from '../../src/core/process/processes.ts';
import { noSiblings } from '../../src/core/process/siblings.ts';
import { UnderWayHere } from '../../src/core/process/under-way.ts';
import { RequestLog } from '../../src/core/requests/request-log.ts';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { UsageMeter } from '../../src/core/usage/meter.ts';
import { Holds } from '../../src/core/wallet/holds/holds.ts';
import { Lanes } from '../../src/core/wallet/lane/lanes.ts';
import { Database } from '../../src/db/database.ts';
import type { CallContext, Services } from '../../src/kit/services.ts';
import { canonicalJson } from '../../src/lib/canonical-json.ts';
import { newId } from '../../src/lib/ids.ts';
import { toJson } from '../../src/lib/json-text.ts';
import { buildManifest } from '../../src/manifest/manifest.ts';
import { modules } from '../../src/modules/index.ts';
import { DecodePlaces } from '../../src/pictures/decode-places.ts';
import { problem } from '../../src/problems/problem.ts';
import { Rendering } from '../../src/rendering/rendering.ts';
import { fileAssets } from '../../src/vendors/assets/file.ts';
import { createOutboundClient } from '../../src/vendors/http/client.ts';
import { createTestDatabase } from '../support/database.ts';
import { sandboxOnly } from '../support/vendors.ts';

export interface House {
  readonly core: Services;
  /** Another process on the same database. */
  another(): Services;
  makeAccount(): Promise<string>;
  makeKey(accountId: string, fields?: Partial<NewKey>): Promise<{ keyId: string; secret: string }>;
  /** Answers `data` as it is on the wire; throws the Problem of a refusal. */
  call(secret: string, capability: string, input?: object, idempotencyKey?: string): Promise<Record<string, unknown>>;
  /** Moves the database's clock. */
  advance(seconds: number): Promise<void>;
  close(): Promise<void>;
}

const manifest = buildManifest(modules, { thoroughness: 'quick' });
const accountCapabilities = manifest.capabilities.filter(({ id }) => id.startsWith('account.'));
const planned = ['queue', 'vector', 'errors', 'email'];
const others = [
  { id: 'queue.publish', scope: 'write' },
  { id: 'queue.stats', scope: 'read' },
] as const;

export async function openHouse(): Promise<House> {
  const database = await createTestDatabase();
  const db = new Database({ ...database, connections: 6, hotConnections: 2 });
  const core = makeCore(db);
  let offset = 0;
  return {
    core,
    another: () => makeCore(db),
    makeAccount: () => db.transaction((tx) => createAccount(tx, { name: 'test' })),
    makeKey: async (accountId, fields = {}) => {
      const made = await db.transaction(async (tx) => {
        const nowMs = (await lockAccount(tx, accountId)) as number;
        return createKey(
          tx,
          core.secrets,
          accountId,
          { name: null, scopes: null, expiresAtMs: null, cap: null, ...fields },
          nowMs,
        );
      });
      return { keyId: made.key.keyId, secret: made.secret };
    },
    call: (secret, capability, input = {}, idempotencyKey) => callOn(core, secret, capability, input, idempotencyKey),
    advance: async (seconds) => {
      offset += seconds;
      const text = `CREATE OR REPLACE FUNCTION core.clock_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
        AS $$ SELECT statement_timestamp() + interval '${offset} seconds' $$`;
      await db.query({ name: `advance_${offset}`, text }, []);
    },
    close: async () => {
      await db.end();
      await database.drop();
    },
  };
}

function makeCore(db: Database): Services {
  const log = createLog('silent');
  const secrets = new Secrets('a server secret of tests, long enough');
  const lanes = new Lanes({ db, log });
  return {
    db,
    secrets,
    lanes,
    longCalls: new LongCalls(admission.all),
    calls: new OwnCalls(db),
    holds: new Holds({ db, lanes, log, owner: 'test' }),
    keys: new KeyRing({ db, secrets }),
    knownScopes: knownScopesOf([...accountCapabilities, ...others], planned),
    usage: new UsageMeter(db),
    requests: new RequestLog(db, admission),
    prices: manifest.prices,
    eventTypes: new Map(modules.flatMap(({ events = [] }) => events.map(({ type }) => [type, 'ga'] as const))),
    processes: new ProcessRegistry(db, newId('process_'), ['web']),
    outbound: createOutboundClient({ allowPrivateTargets: [] }),
    mailServer: null,
    signUp: { isOpen: true, domains: [] },
    identityProviders: new Map(),
    signUpCreditNanos: 0n,
    isEmptyAccount: async () => true,
    payments: { provider: null, fxRatesNanos: {}, reviewAboveNanos: null, kycAboveNanos: null, tierPricesNanos: {} },
    vendors: sandboxOnly(),
    assets: new Assets(fileAssets('/nowhere'), { db, log, secrets }),
    decodes: new DecodePlaces(admission.all),
    blockThreads: new BlockThreads(admission.all),
    log,
    baseUrl: 'http://127.0.0.1:8787',
    region: 'western',
    cnyPerUsd: 7.2,
    alertSources: new Map(),
    connection: {},
    siblings: noSiblings,
    limitsRates: true,
    rendering: new Rendering(null),
    nameServers: null,
    ownNames: new Set(),
    underWay: new UnderWayHere(),
    tracing: null,
    bounds: admission,
  };
}

export async function callOn(core: Services, secret: string, id: string, input: object, idempotencyKey?: string) {
  const capability = manifest.byId.get(id);
  if (capability === undefined) throw new Error(`no capability ${id}`);
  const key = await core.keys.find(secret);
  if (typeof key === 'string') throw invalidKey(key);
  if (!scopesAllow(key.scopes, id, capability.scope)) throw problem('INSUFFICIENT_SCOPE');
  if (capability.currentSecretOnly === true && !key.isCurrent) throw secretInGrace();
  const fingerprint = canonicalJson(JSON.stringify(input));
  const idempotency =
    idempotencyKey === undefined
      ? null
      : { raw: idempotencyKey, hash: core.secrets.idempotencyHash(id, idempotencyKey), fingerprint };
  const ctx: CallContext = {
    core,
    capability: id,
    scope: capability.scope,
    priceEntry: null,
    requestId: newId('req_'),
    traceId: '0'.repeat(32),
    entryForm: 'rest',
    accountId: key.accountId,
    tier: key.tier,
    principal: key,
    approval: null,
    idempotency,
    inputText: '',
    warnings: [],
    weigh: () => undefined,
    chargedThoughFailed: () => undefined,
    sentHeaders: {},
    holdAnswer: () => undefined,
    holdMade: () => undefined,
    requireAnswerRoom: () => undefined,
    signal: new AbortController().signal,
    idle: () => undefined,
    invoke: () => Promise.reject(new Error('nothing else is there to be called')),
    perform: () => Promise.reject(new Error('nothing else is there to be called')),
    askFirst: () => Promise.reject(new Error('nobody is there to be asked')),
  };
  const answer = await capability.run({ ctx, input: input as never, state: null });
  return JSON.parse(toJson(answer.data)) as Record<string, unknown>;
}
