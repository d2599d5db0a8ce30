// Table-backed resources of an account with a name or an ID. One description yields their SQL and their get, list and delete operations.
// Anything beyond that is a capability of its own.
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import type { CountedLimit } from '../core/callers/tiers.ts';
import { runWrite } from '../core/idempotency/write.ts';
import { listPage } from '../core/secrets/cursors.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { timestamp } from '../db/types.ts';
import { type Problem, problem } from '../problems/problem.ts';
import { type Capability, type CapabilityDraft, defineCapability } from './capability.ts';
import { type EventKind, tellEvent } from './event-kind.ts';
import { cursorField, limitField, pageFields, textOrNull } from './fields.ts';
import type { CallContext } from './services.ts';

type Owner = Pick<CallContext, 'accountId'>;

/** Where a page of a list begins, and what is left out; null: from the beginning, of any value. */
export interface ListBounds {
  readonly after: string | null;
  readonly limit: number;
  readonly filters?: Readonly<Record<string, string | null>>;
}

export interface ResourceTable<Row> {
  find(db: Queryable, owner: Owner, key: string): Promise<Row | null>;
  /** In the order of the keys, or the newest first. */
  list(db: Queryable, owner: Owner, bounds: ListBounds): Promise<readonly Row[]>;
  positionOf(row: Row): string;
  /** Whether there was one. */
  remove(tx: Queryable, owner: Owner, key: string): Promise<boolean>;
  count(db: Queryable, accountId: string): Promise<number>;
  isEmpty(db: Queryable, accountId: string): Promise<boolean>;
}

export interface TableShape {
  /** With its schema: `cron.job`. */
  readonly table: string;
  /** The column that follows account_id in the primary key. */
  readonly key: string;
  /** What a row has, as SELECT takes it. */
  readonly columns: string;
  /** Keys are ids that grow with time, and a list begins with the newest. */
  readonly isNewestFirst?: boolean;
  /** Text columns that a list may be narrowed by. */
  readonly filters?: readonly string[];
  /** What counts for a limit, as a condition of SQL; all rows when absent. */
  readonly counted?: string;
}

/** The statements of a table whose primary key is (account_id, key). Called once, at import. */
export function resourceTable<Row>(shape: TableShape): ResourceTable<Row> {
  const { find, page, remove } = statementsOf(shape);
  const { filters = [] } = shape;
  // Before all names, and behind all ids: an index is entered by a value, not by `IS NULL OR`.
  const start = shape.isNewestFirst === true ? '~' : '';
  return {
    find: async (db, { accountId }, key) => (await db.query<Row>(find, [accountId, key])).rows[0] ?? null,
    async list(db, { accountId }, { after, limit, filters: wanted = {} }) {
      const values = filters.map((column) => wanted[column] ?? null);
      return (await db.query<Row>(page, [accountId, after ?? start, limit, ...values])).rows;
    },
    positionOf: (row) => String((row as Readonly<Record<string, unknown>>)[shape.key]),
    remove: async (tx, { accountId }, key) => (await tx.query(remove, [accountId, key])).count > 0,
    count: rowCount(shape.table, shape.counted),
    isEmpty: noRowIn(shape.table),
  };
}

/**
 * Sends a row that is added, or takes the place of the one of its key, and answers it. There is nothing to wait for: when it fails, the
 * transaction fails with its error. `columns` beside account_id; those that end in `_at` are instants. Called once, at import. What counts the
 * rows against a limit holds the account's lock, as runWrite does.
 */
export function rowSaver<Row>({ table, key, columns }: Pick<TableShape, 'table' | 'key' | 'columns'>) {
  const names = columns.split(', ');
  const changed = names.filter((name) => name !== key).map((name) => `${name} = excluded.${name}`);
  const save = statement(
    statementName(table, 'save'),
    `INSERT INTO ${table} (account_id, ${columns}) VALUES (${['account_id', ...names].map((_, i) => `$${i + 1}`).join(', ')})
         ON CONFLICT (account_id, ${key}) DO UPDATE SET ${changed.join(', ')}`,
  );
  return (tx: Transaction, { accountId }: Owner, row: Row): Row => {
    const values = row as Readonly<Record<string, string | number | bigint | boolean | null>>;
    const wireValue = (name: string) =>
      name.endsWith('_at') ? timestamp(values[name] as number | null) : (values[name] ?? null);
    void tx.query(save, [accountId, ...names.map(wireValue)]);
    return row;
  };
}

/** How many rows of the table an account has; `counted`: those that count, as a condition of SQL. Called once, at import. */
export function rowCount(table: string, counted = 'true'): (db: Queryable, accountId: string) => Promise<number> {
  const count = statement(
    statementName(table, 'count'),
    `SELECT count(*)::int AS counted FROM ${table} WHERE account_id = $1 AND ${counted}`,
  );
  return async (db, accountId) => (await db.query<{ counted: number }>(count, [accountId])).rows[0]?.counted ?? 0;
}

/** Whether an account has no row in the table. Called once, at import. */
export function noRowIn(table: string): (db: Queryable, accountId: string) => Promise<boolean> {
  const find = statement(statementName(table, 'any'), `SELECT 1 AS found FROM ${table} WHERE account_id = $1 LIMIT 1`);
  return async (db, accountId) => (await db.query(find, [accountId])).rows.length === 0;
}

function statementsOf({ table, key, columns, isNewestFirst = false, filters = [] }: TableShape) {
  const [beyond, order] = isNewestFirst ? ['<', 'DESC'] : ['>', 'ASC'];
  const narrowed = filters.map((column, i) => ` AND ($${i + 4}::text IS NULL OR ${column} = $${i + 4}::text)`).join('');
  const ofAccount = `FROM ${table} WHERE account_id = $1`;
  return {
    find: statement(statementName(table, 'find'), `SELECT ${columns} ${ofAccount} AND ${key} = $2`),
    page: statement(
      statementName(table, 'page'),
      `SELECT ${columns} ${ofAccount} AND ${key} ${beyond} $2::text${narrowed} ORDER BY ${key} ${order} LIMIT $3::int`,
    ),
    remove: statement(statementName(table, 'remove'), `DELETE ${ofAccount} AND ${key} = $2`),
  };
}

/** Beside those that the module has of the same table. */
function statementName(table: string, what: string): string {
  return `kit_${table.replace('.', '_')}_${what}`;
}

export interface Scene<State> {
  readonly ctx: CallContext;
  readonly state: State;
}

/** What an operation that lists needs to know. */
export interface Listed<Row, State = unknown, Out extends TSchema = TSchema> {
  /** In a sentence: `job`. */
  readonly noun: string;
  readonly output: Out;
  /** The record on the wire; a JsonText reaches it byte for byte. */
  show(row: Row, scene: Scene<State>): unknown;
  list(db: Queryable, ctx: CallContext, bounds: ListBounds, state: State): Promise<readonly Row[]>;
  /** The value of a row that orders the list. */
  positionOf(row: Row): string;
}

/** A thing as operations name and show it. Most of it comes of a table: `{ ...jobTable, noun: 'job', … }`. */
export interface Resource<Row, State = unknown, Out extends TSchema = TSchema> extends Listed<Row, State, Out> {
  /** The field that names one in calls. */
  readonly keyName: string;
  readonly keyField: TSchema;
  /** What is thrown for one that is not there; NOT_FOUND when absent. */
  notFound?(): Problem;
  find(db: Queryable, ctx: CallContext, key: string): Promise<Row | null>;
  /** Whether there was one. */
  remove(tx: Transaction, ctx: CallContext, key: string, nowMs: number): Promise<boolean>;
}

type Texts = Pick<CapabilityDraft, 'path' | 'description' | 'examples'> &
  Partial<Pick<CapabilityDraft, 'summary' | 'keywords'>>;

/** The row. Throws the resource's error for one that is not there. */
export async function requireRow<Row, State>(
  resource: Pick<Resource<Row, State>, 'noun' | 'keyName' | 'notFound' | 'find'>,
  db: Queryable,
  ctx: CallContext,
  key: string,
): Promise<Row> {
  const row = await resource.find(db, ctx, key);
  if (row === null) throw notFound(resource);
  return row;
}

/** GET of one. */
export function getOf<Row, State, Out extends TSchema>(
  resource: Omit<Resource<Row, State, Out>, 'list' | 'positionOf' | 'remove'>,
  texts: Texts,
): Capability<TObject, State, Out> {
  const { noun, keyName, keyField, output } = resource;
  return defineCapability<State>()({
    method: 'GET',
    summary: `Shows a ${noun}.`,
    ...texts,
    input: Type.Object({ [keyName]: keyField }),
    output,
    errors: [notFound(resource).code],
    async run({ ctx, input, state }) {
      const row = await requireRow(resource, ctx.core.db, ctx, String(input[keyName]));
      return { data: resource.show(row, { ctx, state }) };
    },
  });
}

export interface Listing extends Texts {
  /** Columns that callers may narrow the list by, each with its field. */
  readonly filters?: Readonly<Record<string, TSchema>>;
  /** Beside that of a wrong cursor. */
  readonly errors?: readonly string[];
}

/** GET of a page of them. */
export function listOf<Row, State, Out extends TSchema>(
  { noun, output, show, list, positionOf }: Listed<Row, State, Out>,
  { filters = {}, errors = [], ...texts }: Listing,
) {
  const names = Object.keys(filters);
  return defineCapability<State>()({
    method: 'GET',
    summary: `Lists the ${noun}s of the account.`,
    ...texts,
    input: Type.Object({ ...filters, cursor: cursorField, limit: limitField }),
    output: Type.Object({ items: Type.Array(output, { description: 'This page.' }), ...pageFields }),
    errors: [...errors, 'INVALID_CURSOR'],
    async run({ ctx, input, state }) {
      const sent = input as Readonly<Record<string, unknown>>;
      const wanted = Object.fromEntries(names.map((name) => [name, (sent[name] as string | undefined) ?? null]));
      const page = await listPage(ctx, input, {
        filters: names.map((name) => String(wanted[name])),
        read: (after, limit) => list(ctx.core.db, ctx, { after, limit, filters: wanted }, state),
        positionOf,
      });
      return { data: { ...page, items: page.items.map((row) => show(row, { ctx, state })) } };
    },
  });
}

export interface Removal<State> extends Texts {
  /** One that is not there is the resource's error; else the answer says that there was none. */
  readonly isStrict?: boolean;
  /** Runs once it is committed. */
  after?(scene: Scene<State>): void;
}

/** DELETE of one. */
export function deleteOf<Row, State>(
  resource: Pick<Resource<Row, State>, 'noun' | 'keyName' | 'keyField' | 'notFound' | 'remove'>,
  { isStrict = false, after, ...texts }: Removal<State>,
) {
  const { noun, keyName, keyField } = resource;
  return defineCapability<State>()({
    method: 'DELETE',
    summary: `Deletes a ${noun}.`,
    ...texts,
    input: Type.Object({ [keyName]: keyField }),
    output: Type.Object({
      [keyName]: Type.String({ description: 'As sent.' }),
      deleted: Type.Boolean({ description: isStrict ? 'True.' : `Whether there was such a ${noun}.` }),
      ...(isStrict ? {} : { status: textOrNull('`not_found` when there was none, else null.') }),
    }),
    errors: isStrict ? [notFound(resource).code] : [],
    async run({ ctx, input, state }) {
      const answer = await runWrite(ctx, async (tx, { nowMs }) => {
        const key = String(input[keyName]);
        const deleted = await resource.remove(tx, ctx, key, nowMs);
        if (isStrict && !deleted) throw notFound(resource);
        return { [keyName]: key, deleted, ...(isStrict ? {} : { status: deleted ? null : 'not_found' }) };
      });
      after?.({ ctx, state });
      return answer;
    },
  });
}

/** A thing that calls change: `save` is its rowSaver, or a statement that writes the columns that change. Answers the row as it is then. */
export interface Changeable<Row, State = unknown, Out extends TSchema = TSchema>
  extends Omit<Resource<Row, State, Out>, 'list' | 'positionOf' | 'remove'> {
  save(tx: Transaction, ctx: CallContext, row: Row): Row | Promise<Row>;
}

export interface ChangeScene<State> extends Scene<State> {
  readonly tx: Transaction;
  readonly nowMs: number;
}

export interface RowChange<Row, State, Fields extends TProperties>
  extends Texts,
    Partial<Pick<CapabilityDraft, 'laterPrices' | 'destructive'>> {
  /** PATCH when absent: what changes is what was sent. POST for an act such as `pause`. */
  readonly method?: 'PATCH' | 'POST';
  /** Beside the field that names the row. */
  readonly fields?: Fields;
  /** Beside that of a row that is not there. */
  readonly errors?: readonly string[];
  /** The event that tells it, with the record as `object`. */
  readonly tells?: EventKind;
  /** Reads what the change needs beside the row, and refuses what cannot be: throws its Problem. */
  check?(row: Row, input: Static<TObject<Fields>>, scene: ChangeScene<State>): Promise<void>;
  /** The columns that change, with their values; null: nothing is saved or told. Throws the Problem of a refusal. */
  change(row: Row, input: Static<TObject<Fields>>, scene: ChangeScene<State>): Partial<Row> | null;
}

/** A change of one, free: the row is found under the account's lock, changed, saved and told in one transaction. Answers its record. */
export function changeOf<Row, State, Out extends TSchema>(resource: Changeable<Row, State, Out>) {
  const { noun, keyName, keyField, output } = resource;
  return <Fields extends TProperties = Record<never, never>>({
    method = 'PATCH',
    fields,
    errors = [],
    tells,
    check,
    change,
    ...texts
  }: RowChange<Row, State, Fields>) =>
    defineCapability<State>()({
      method,
      summary: `Changes a ${noun}.`,
      ...texts,
      input: Type.Object({ [keyName]: keyField, ...fields }),
      output,
      errors: [notFound(resource).code, ...errors],
      events: tells === undefined ? [] : [tells.type],
      run: ({ ctx, input, state }) =>
        runWrite(ctx, async (tx, { nowMs }) => {
          const sent = input as Static<TObject<Fields>>;
          const before = await requireRow(resource, tx, ctx, String((input as Record<string, unknown>)[keyName]));
          const scene = { ctx, state, tx, nowMs };
          await check?.(before, sent, scene);
          const changed = change(before, sent, scene);
          if (changed === null) return resource.show(before, scene);
          const object = resource.show(await resource.save(tx, ctx, { ...before, ...changed }), scene);
          if (tells !== undefined) tellEvent(tx, tells, ctx, { object }, nowMs);
          return object;
        }),
    });
}

function notFound(resource: Pick<Resource<unknown>, 'noun' | 'keyName' | 'notFound'>): Problem {
  const { noun, keyName: param } = resource;
  return resource.notFound?.() ?? problem('NOT_FOUND', { param, message: `The ${noun} does not exist.` });
}

/** Throws QUOTA_EXCEEDED where the tier has no room for `added` more. In the transaction that adds them, which holds the account's lock. */
export async function requireRoom(
  tx: Queryable,
  { accountId, tier }: Pick<CallContext, 'accountId' | 'tier'>,
  noun: string,
  limit: CountedLimit,
  added = 1,
): Promise<void> {
  const most = limit[tier];
  if ((await limit.used(tx, accountId)) + added <= most) return;
  throw problem('QUOTA_EXCEEDED', {
    message: `${noun[0]?.toUpperCase()}${noun.slice(1)} limit reached: ${most} on tier ${tier}.`,
  });
}
