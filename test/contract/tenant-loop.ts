// The loop over all modules that shows: what belongs to account A does not exist for account B. What it calls, each module says.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockCaller } from '../../src/core/callers/lock.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { updateKeyFields } from '../../src/core/keys/store.ts';
import type { Capability } from '../../src/kit/capability.ts';
import type { Services } from '../../src/kit/services.ts';
import type { Input, Names, Tenant } from '../../src/kit/tenant-fixture.ts';
import type { Manifest } from '../../src/manifest/manifest.ts';
import { accountRows } from '../support/account-rows.ts';
import { callCapability, isOperators } from '../support/capabilities.ts';
import { leaveCard } from '../support/leave-card.ts';
import { client, createTestAccount, type Reply, type TestAccount, type TestService } from '../support/service.ts';
import type { WholeFixture } from '../support/tenant-fixtures.ts';

interface Looped {
  readonly fixture: WholeFixture;
  own: Names;
  ofB: Names;
}

/** Discovery names capabilities and kinds of events, which are everyone's. */
const everyones: Readonly<Record<string, readonly []>> = {
  discovery: [],
  'discovery.capability': [],
  'discovery.event': [],
};

class Loop {
  readonly manifest: Manifest;
  readonly looped: readonly Looped[];
  readonly cursors = new Map<string, string>();
  service!: TestService;
  a!: TestAccount;
  b!: TestAccount;
  #rowsOfA: Readonly<Record<string, string>> = {};

  constructor(manifest: Manifest, fixtures: readonly WholeFixture[]) {
    this.manifest = manifest;
    this.looped = fixtures.map((fixture) => ({ fixture, own: {}, ofB: {} }));
  }

  async use(service: TestService): Promise<void> {
    this.service = service;
    [this.a, this.b] = await Promise.all([createTestAccount(service.core), createTestAccount(service.core)]);
  }

  async fill(each: Looped): Promise<void> {
    each.own = await each.fixture.fill(this.#tenant(this.a));
    each.ofB = await each.fixture.fillOther(this.#tenant(this.b));
  }

  /** When all are filled: lists of one module may show what others bring. */
  async takeCursors(): Promise<void> {
    for (const [id, ask, { own }] of this.lists()) {
      this.cursors.set(id, (await this.#tenant(this.a).act(id, { ...ask(own), limit: 1 })).next_cursor);
    }
  }

  /** What A has now is what later calls must not change. */
  async noteRowsOfA(): Promise<void> {
    this.#rowsOfA = await accountRows(this.service.core.db, this.a.accountId);
  }

  /** A call that has changed something is told of it, and the next one is not. */
  async expectUnchangedA(): Promise<void> {
    const before = this.#rowsOfA;
    await this.noteRowsOfA();
    expect(this.#rowsOfA).toEqual(before);
  }

  call(account: TestAccount, id: string, input: Input): Promise<Reply> {
    return callCapability(client(this.service.url, account.secret), this.manifest.byId.get(id) as Capability, input);
  }

  lists() {
    return this.looped.flatMap((each) =>
      Object.entries(each.fixture.lists).map(([id, ask]) => [id, ask, each] as const),
    );
  }

  #tenant(account: TestAccount): Tenant {
    return {
      accountId: account.accountId,
      leaveCard,
      db: this.service.core.db,
      act: async (id, input) => {
        const { body } = await this.call(account, id, input);
        expect(body, id).toMatchObject({ ok: true });
        return body.data;
      },
    };
  }
}

/** Declares the tests. `start` starts a service with exactly the modules of the manifest; `looped` are the fixtures that are gone through. */
export function tenantLoop(
  manifest: Manifest,
  fixtures: readonly WholeFixture[],
  start: () => Promise<TestService>,
  looped: readonly WholeFixture[] = fixtures,
): void {
  const loop = new Loop(manifest, looped);
  beforeAll(async () => loop.use(await start()));
  // A hook of its own for each module: the time that a hook may take is for one of them.
  for (const each of loop.looped) beforeAll(() => loop.fill(each));
  beforeAll(() => loop.takeCursors());
  beforeAll(() => loop.noteRowsOfA());
  afterAll(() => loop.service.stop());

  describe('from account B', () => {
    test('every capability says how it names things, and every list what it is asked with', () => {
      const named = [...fixtures.flatMap(({ aims }) => Object.keys(aims)), ...Object.keys(everyones)];
      expect(named.sort()).toEqual(manifest.capabilities.map(({ id }) => id).sort());
      const withCursor = manifest.capabilities.filter(
        (each) => 'cursor' in each.input.properties && !isOperators(each),
      );
      const lists = fixtures.flatMap((each) => Object.keys(each.lists));
      expect(lists.sort()).toEqual(withCursor.map(({ id }) => id).sort());
    });
    testNames(loop);
    testLists(loop);
    testOperators(loop);
  });
}

function testNames(loop: Loop): void {
  const cases = loop.looped.flatMap((each) =>
    Object.entries(each.fixture.aims).flatMap(([id, aims]) =>
      aims.map((aim) => ({ id, aim, each, shown: JSON.stringify(aim(each.fixture.nobody)) })),
    ),
  );
  const keyed = loop.looped.flatMap((each) =>
    (each.fixture.keyed ?? []).map(([id, input]) => [id, input, each] as const),
  );

  test.each(cases)('$id $shown: the answer of a random id, and A unchanged', async ({ id, aim, each }) => {
    const { own, fixture } = each;
    const foreign = await loop.call(loop.b, id, aim(own));
    const unknown = await loop.call(loop.b, id, aim(fixture.nobody));
    expect(comparable(foreign, own)).toEqual(comparable(unknown, fixture.nobody));
    expect(Object.keys(foreign.body.error ?? {})).toEqual(Object.keys(unknown.body.error ?? {}));
    expect(foreign.text).not.toContain(loop.a.accountId);
    await loop.expectUnchangedA();
  });

  test.each(keyed)("%s: A's idempotency key is free for B", async (id, input, { own }) => {
    const { status, body } = await loop.call(loop.b, id, { ...input, idempotency_key: 'shared' });
    expect([status, body.metadata.idempotent_replay]).toEqual([200, false]);
    for (const name of Object.values(own)) expect(JSON.stringify(body)).not.toContain(name);
  });
}

function testLists(loop: Loop): void {
  test.each(loop.lists())('%s: a cursor of A is no cursor', async (id, ask, { own, ofB }) => {
    const cursor = loop.cursors.get(id);
    expect(cursor).toEqual(expect.any(String));
    const { status, body } = await loop.call(loop.b, id, { ...ask(ofB), cursor });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'INVALID_CURSOR', 'cursor']);
    expect((await loop.call(loop.a, id, { ...ask(own), cursor })).status).toBe(200);
  });

  test('the lists of B hold nothing of A', async () => {
    const names = [loop.a.accountId, loop.a.keyId, ...loop.looped.flatMap(({ own }) => Object.values(own))];
    const listed = loop.manifest.capabilities.filter(({ method, path }) => method === 'GET' && !path.includes('{'));
    for (const { id } of listed) {
      const [, ask, each] = loop.lists().find(([listId]) => listId === id) ?? [];
      // Its log has what B asked for above.
      if (ask === undefined && id === 'account.requests.list') continue;
      const { text } = await loop.call(loop.b, id, ask?.(each?.ofB ?? {}) ?? {});
      for (const name of names) expect(text, id).not.toContain(name);
    }
  });
}

/** What reaches into every account is the operator's alone: whatever scopes a key of another account has come to. */
function testOperators(loop: Loop): void {
  const cases = loop.looped.flatMap((each) =>
    loop.manifest.capabilities
      .filter(isOperators)
      .flatMap(({ id }) => (each.fixture.aims[id] ?? []).map((aim) => [id, aim, each] as const)),
  );

  test.each(cases)('%s is refused to any key but the operator’s, and changes nothing', async (id, aim, { own }) => {
    const { core } = loop.service;
    const keys = [null, ['*'], ['*', 'operator'], [id]];
    const accounts = await Promise.all(keys.map((scopes) => createKeyWith(core, loop.b.accountId, scopes)));
    await loop.noteRowsOfA();
    for (const secret of accounts) {
      const { status, body, text } = await loop.call({ ...loop.b, secret }, id, aim(own));
      expect([status, body.error.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
      expect(text).not.toContain(loop.a.accountId);
    }
    await loop.expectUnchangedA();
  });
}

/** As a key may come to its scopes: nobody looks at what they are. Answers its secret. */
function createKeyWith(core: Services, accountId: string, scopes: string[] | null): Promise<string> {
  return core.db.transaction(async (tx) => {
    const nowMs = await lockCaller(tx, accountId);
    const fields = { name: null, scopes: null, expiresAtMs: null, cap: null };
    const { key, secret } = await createKey(tx, core.secrets, accountId, fields, nowMs);
    await updateKeyFields(tx, accountId, key.keyId, { name: null, scopes }, nowMs);
    return secret;
  });
}

/** The answer without what differs from call to call, and with one word for each name. */
function comparable(reply: Reply, names: Names): unknown {
  const { data, error, metadata } = reply.body;
  const volatile = [
    'request_id',
    'trace_id',
    'log_url',
    'timestamp',
    'latency_ms',
    'balance_usd',
    'redrive_id',
    'created_at',
    'finished_at',
    'updated_at',
    'available_at',
    'published_at',
    'auth',
  ];
  // Whoever publishes to a channel of that name makes a message of their own.
  const isOwnMessage = (value: unknown) => typeof value === 'string' && value.startsWith('rtm_');
  const text = JSON.stringify({ status: reply.status, data, error, metadata }, (name, value) =>
    volatile.includes(name) || isOwnMessage(value) ? undefined : value,
  );
  return JSON.parse(Object.entries(names).reduce((all, [kind, name]) => all.replaceAll(name, `<${kind}>`), text));
}
