// What people keep under a name: dashboards, saved questions. One description yields its table's statements and its five operations. The table
// has a row each with the fields as JSON; names are unique in an account, whose lock every write holds.
import Type, { type Static, type TObject, type TProperties, type TString } from 'typebox';
import { admission } from '../core/admission.ts';
import type { CountedLimit, Tier } from '../core/callers/tiers.ts';
import { runWrite } from '../core/idempotency/write.ts';
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { newId } from '../lib/ids.ts';
import { iso } from '../lib/time.ts';
import { problem } from '../problems/problem.ts';
import { defineCapability } from './capability.ts';
import { instant, plainText } from './fields.ts';
import {
  type Changeable,
  changeOf,
  deleteOf,
  getOf,
  listOf,
  requireRoom,
  resourceTable,
  rowSaver,
} from './resource.ts';
import type { CallContext } from './services.ts';

interface Saved<Key extends string, Fields extends TProperties, Listed extends TProperties> {
  readonly module: string;
  /** What one is called, as in its operations: `dashboard`. */
  readonly noun: string;
  readonly key: Key;
  /** Of its ids: `dash_`. */
  readonly prefix: string;
  /** `<module>.<noun>`, with the columns of `savedColumns`. */
  readonly table: string;
  /** What it holds beside its name. */
  readonly fields: Fields;
  /** What lists show of them, by its schema. */
  readonly listed: Listed;
  summaryOf(kept: Static<TObject<Fields>>): Static<TObject<Listed>>;
  /** Throws the Problem of what the schema alone does not refuse. */
  check?(kept: Static<TObject<Fields>>): void;
  readonly limit: Readonly<Record<Tier, number>>;
  readonly words: {
    /** Of one, in a sentence: `A dashboard has panels, each a query of PromQL that is drawn.` */
    readonly what: string;
    readonly create: readonly string[];
    readonly list: readonly string[];
  };
  /** Fields of an example, and of a change of it. */
  readonly example: Readonly<Record<string, unknown>>;
  readonly changed: Readonly<Record<string, unknown>>;
}

interface Row {
  readonly name: string;
  /** The fields, as JSON. */
  readonly body: string;
  readonly created_at: number;
  readonly updated_at: number;
}

const { nameCharactersMax } = admission.call.saved;

/** Called once, at import. */
export function savedOf<Key extends string, Fields extends TProperties, Listed extends TProperties>(
  of: Saved<Key, Fields, Listed>,
) {
  const { module, noun, key, prefix, table, words } = of;
  const shape = { table, key, columns: `${key}, name, body, created_at, updated_at`, isNewestFirst: true };
  const rows = resourceTable<Row>(shape);
  const save = rowSaver<Row>(shape);
  const findName = statement(
    `kit_${table.replace('.', '_')}_name`,
    `SELECT ${key} AS id FROM ${table} WHERE account_id = $1 AND name = $2`,
  );
  const nameField = plainText(nameCharactersMax, `What people call it; no other ${noun} of the account has it.`);
  const keyField = Type.String({ maxLength: 64, description: `Id of the ${noun}.` });
  const common = {
    ...({ [key]: Type.String({ description: `Id of the ${noun}.` }) } as Record<Key, TString>),
    name: Type.String({ description: 'What people call it.' }),
  };
  const times = { created_at: instant('When it was saved first.'), updated_at: instant('When it changed last.') };
  const output = Type.Object({ ...common, ...of.fields, ...times });
  const summary = Type.Object({ ...common, ...of.listed, ...times });
  const path = (act: string) => `/v1/${module}/${noun}/${act}`;
  const idOf = (row: Row) => (row as unknown as Readonly<Record<Key, string>>)[key];
  const keptIn = (row: Row) => JSON.parse(row.body) as Static<TObject<Fields>>;
  const about = (row: Row) => ({ [key]: idOf(row), name: row.name });
  const timesOf = (row: Row) => ({ created_at: iso(row.created_at), updated_at: iso(row.updated_at) });
  const limit: CountedLimit = {
    description: `${noun[0]?.toUpperCase()}${noun.slice(1)}s that are saved.`,
    used: rows.count,
    ...of.limit,
  };
  const resource: Changeable<Row, unknown, typeof output> & typeof rows = {
    ...rows,
    noun,
    keyName: key,
    keyField,
    output,
    show: (row) => ({ ...about(row), ...keptIn(row), ...timesOf(row) }),
    save,
  };

  async function requireFree(tx: Queryable, { accountId }: CallContext, name: string, own: string | null) {
    const { rows: found } = await tx.query<{ id: string }>(findName, [accountId, name]);
    const [other] = found;
    if (other === undefined || other.id === own) return;
    throw problem('ALREADY_EXISTS', { param: 'name', message: `${other.id} has this name already. Use another one.` });
  }

  /** As it is kept: throws the Problem of a body that is too long, or wrong. */
  function bodyOf(kept: Static<TObject<Fields>>): string {
    of.check?.(kept);
    return JSON.stringify(kept);
  }

  const limits = [of.limit.standard, of.limit.pro, of.limit.enterprise].map((most) => most.toLocaleString('en'));
  const createPath = path('create');
  const made = { capability: `${module}.${noun}.create`, input: of.example };
  const create = defineCapability<unknown>()({
    method: 'POST',
    path: createPath,
    summary: `Saves a ${noun} under a name.`,
    description: `${words.what} The console shows it at /console/${module}. Free.`,
    keywords: words.create,
    input: Type.Object({ name: nameField, ...of.fields }),
    output,
    errors: ['ALREADY_EXISTS', 'QUOTA_EXCEEDED'],
    limits: { [`${noun}s`]: `${limits.join(' / ')} an account by tier.` },
    examples: [{ title: 'One', input: of.example, expect: of.example }],
    run({ ctx, input }) {
      const { name, ...kept } = input as { readonly name: string } & Static<TObject<Fields>>;
      const body = bodyOf(kept as unknown as Static<TObject<Fields>>);
      return runWrite(ctx, async (tx, { nowMs }) => {
        await requireFree(tx, ctx, name, null);
        await requireRoom(tx, ctx, noun, limit);
        const row = { [key]: newId(prefix, nowMs), name, body, created_at: nowMs, updated_at: nowMs };
        return resource.show(save(tx, ctx, row as unknown as Row), { ctx, state: undefined });
      });
    },
  });

  const get = getOf(resource, {
    path: path(`get/{${key}}`),
    description: `The ${noun} with all that it holds.`,
    keywords: [`show ${noun}`, `open ${noun}`],
    examples: [{ title: 'One', before: [made], input: { [key]: `$0.${key}` }, expect: of.example }],
  });

  const list = listOf(
    {
      ...resource,
      output: summary,
      show: (row: Row) => ({ ...about(row), ...of.summaryOf(keptIn(row)), ...timesOf(row) }),
    },
    {
      path: path('list'),
      description: `The ${noun}s of the account, the newest first.`,
      keywords: words.list,
      examples: [{ title: 'All', before: [made], input: {}, expect: { has_more: false } }],
    },
  );

  const optional = Object.fromEntries(
    Object.entries(of.fields).map(([name, field]) => [name, Type.Optional(field)]),
  ) as TProperties;
  const update = changeOf(resource)({
    path: path(`update/{${key}}`),
    description: 'Changes what is sent and leaves the rest; each field is replaced as a whole.',
    keywords: [`rename ${noun}`, `change ${noun}`],
    fields: { name: Type.Optional(nameField), ...optional },
    errors: ['ALREADY_EXISTS'],
    examples: [
      { title: 'Another name', before: [made], input: { [key]: `$0.${key}`, ...of.changed }, expect: of.changed },
    ],
    async check(row, sent, { ctx, tx }) {
      const { name } = sent as { readonly name?: string };
      if (name !== undefined) await requireFree(tx, ctx, name, idOf(row));
    },
    change(row, sent, { nowMs }) {
      const { name = row.name, ...rest } = sent as { readonly name?: string };
      const fields = Object.fromEntries(Object.entries(rest).filter(([field]) => Object.hasOwn(of.fields, field)));
      const body = bodyOf({ ...(keptIn(row) as object), ...fields } as Static<TObject<Fields>>);
      return name === row.name && body === row.body ? null : { name, body, updated_at: nowMs };
    },
  });

  const remove = deleteOf(resource, {
    path: path(`delete/{${key}}`),
    description: `The ${noun} is gone; what it asked about stays.`,
    keywords: [`delete ${noun}`, `remove ${noun}`],
    examples: [{ title: 'One', before: [made], input: { [key]: `$0.${key}` }, expect: { deleted: true } }],
    isStrict: true,
  });

  return {
    create,
    get,
    list,
    update,
    remove,
    limit,
    isEmpty: rows.isEmpty,
    capabilities: [create, get, list, update, remove],
  };
}
