// Import and export of flagd flag definitions (https://flagd.dev/schema/v0/flags.json).
import type { ErrorObject } from 'ajv';
import Type, { type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { defineCapability } from '../../../kit/capability.ts';
import { textOrNull } from '../../../kit/fields.ts';
import { RULE } from '../../../kit/json-logic/limits.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { schemaWords } from '../../../lib/schema-words.ts';
import { invalidField, Problem } from '../../../problems/problem.ts';
import * as flag from '../flags/flag.ts';
import { accountOf, allFlags, recordChange, removeFlagsBut, writeFlags } from '../flags/store.ts';
import { EVALUATORS_MAX, IMPORT_BYTES_MAX, IMPORT_FLAGS_MAX } from '../limits.ts';
import type { FlagsState } from '../serving/served-flags.ts';

const KEY_CHARACTERS_TOLD = 200;
const { variants, default_variant: defaultVariant, targeting, metadata } = flag.settings;
const flagdFlag = Type.Object({
  state: Type.Enum(['ENABLED', 'DISABLED'], { description: 'Whether it is on.' }),
  variants,
  ...Type.Partial(Type.Object({ defaultVariant, targeting, metadata })).properties,
});
const input = Type.Object({
  // Each is checked by itself: a flag that is wrong does not refuse the file.
  flags: flag.members('Flags by key, as flagd has them: state, variants, defaultVariant, targeting and metadata.', {
    minProperties: 1,
    maxProperties: IMPORT_FLAGS_MAX,
  }),
  $evaluators: Type.Optional(
    Type.Record(Type.String(), flag.members('A rule.'), {
      maxProperties: EVALUATORS_MAX,
      description: 'Rules by name, put in the place of each `{"$ref": "name"}`.',
    }),
  ),
  metadata: Type.Optional({ ...metadata, description: 'That of all flags; kept as it is when not sent.' }),
  $schema: Type.Optional(Type.String({ description: 'Not looked at.' })),
  replace: Type.Optional(Type.Boolean({ default: false, description: 'Deletes flags that the file does not have.' })),
});

const failureSchema = Type.Object({
  key: Type.String({ description: 'Key of the flag.' }),
  error: Type.Object(
    {
      code: Type.String({ description: 'Code of the error.' }),
      code_detail: textOrNull('What is wrong.'),
      param: textOrNull('Where in the file.'),
      message: Type.String({ description: 'What to do.' }),
    },
    { description: 'Its fault.' },
  ),
});

export const importFlags = defineCapability<FlagsState>()({
  method: 'POST',
  path: '/v1/flags/import',
  summary: 'Imports feature flags in the form of flagd.',
  description:
    'Takes a flag definition of flagd (https://flagd.dev). Flags of the file take the place of those with the same key. A flag that is wrong is left out, as it ' +
    'was, and told in `failed`; if all are, the call fails. The type of a flag follows from its values, its description stands in its metadata.',
  keywords: ['import flags', 'flagd file', 'move feature flags', 'restore feature flags'],
  input,
  output: Type.Object({
    imported: Type.Integer({ description: 'Flags that were set.' }),
    failed: Type.Array(failureSchema, { description: 'Flags that were not, each with its fault.' }),
    deleted: Type.Integer({ description: 'Flags that were deleted.' }),
    revision: flag.revisionField,
  }),
  errors: ['QUOTA_EXCEEDED'],
  limits: { flags: `${IMPORT_FLAGS_MAX} in a call, 4 MiB.` },
  opaque: ['flags', '$evaluators', 'metadata'],
  bodyBytesMax: IMPORT_BYTES_MAX,
  bulk: { source: import.meta.url, reduce: (sent) => ({ value: readFlagd(sent), transfer: [] }) },
  examples: [
    {
      title: 'A file of flagd',
      input: { flags: { welcome: { state: 'ENABLED', variants: { on: true, off: false }, defaultVariant: 'off' } } },
      expect: { imported: 1, deleted: 0, failed: [] },
    },
    {
      title: 'One of two flags names a variant that it does not have',
      input: {
        flags: {
          welcome: { state: 'ENABLED', variants: { on: true, off: false }, defaultVariant: 'off' },
          checkout: {
            state: 'ENABLED',
            variants: { on: true, off: false },
            targeting: { if: [{ var: 'beta' }, 'yes'] },
          },
        },
      },
      expect: { imported: 1, failed: [{ key: 'checkout', error: { param: 'flags.checkout.targeting.if.1' } }] },
    },
  ],
  run({ ctx, input, state }) {
    // What `bulk` made of the input.
    const { flags: saved, failed, metadata, replace } = input as unknown as ReturnType<typeof readFlagd>;
    return writeFlags(ctx, state, async (tx, { nowMs }) => {
      const keys = [...saved, ...failed].map(({ key }) => key);
      const removed = replace ? await removeFlagsBut(tx, ctx, keys) : [];
      const revision = await recordChange(tx, ctx, { action: 'import', saved, removed, metadata, nowMs });
      return { imported: saved.length, failed, deleted: removed.length, revision: Number(revision) };
    });
  },
});

export const exportFlags = defineCapability<FlagsState>()({
  method: 'GET',
  path: '/v1/flags/export',
  summary: 'Exports all feature flags in the form of flagd.',
  description: 'A flag definition of flagd (https://flagd.dev), which flagd and flags.import read.',
  keywords: ['export flags', 'flagd json', 'back up feature flags'],
  input: Type.Object({}),
  output: Type.Object({
    flags: flag.members('Flags by key, as flagd has them.'),
    metadata: flag.members('That of all flags.'),
  }),
  examples: [{ title: 'All flags', input: {} }],
  async run({ ctx, state: { slices } }) {
    ctx.requireAnswerRoom();
    const { metadata } = await accountOf(ctx.core.db, ctx);
    const texts: string[] = [];
    for await (const rows of allFlags(ctx.core.db, ctx)) {
      await slices.next();
      for (const row of rows) {
        if (slices.isOver) await slices.next();
        const text = `${JSON.stringify(row.key)}:${JSON.stringify(writtenFlag(row))}`;
        ctx.holdAnswer(text.length);
        texts.push(text);
      }
    }
    return { data: new JsonText(`{"flags":{${texts.join(',')}},"metadata":${JSON.stringify(metadata)}}`) };
  },
});

function writtenFlag(row: flag.FlagRow) {
  const { variants, targeting, metadata } = flag.definitionOf(row);
  const description = row.description === null ? {} : { description: row.description };
  return {
    state: row.enabled ? 'ENABLED' : 'DISABLED',
    variants,
    defaultVariant: row.default_variant,
    targeting,
    metadata: { ...metadata, ...description },
  };
}

const DESCRIPTION = /^[^\p{Cc}\p{Cs}]{1,500}$/u;

/** Throws the first fault, which names the flag and the field, when all have one. */
function readFlagd({ flags, $evaluators = {}, metadata, replace = false }: Static<typeof input>) {
  const read: flag.NewFlag[] = [];
  const faults: { key: string; fault: Problem }[] = [];
  for (const [key, each] of Object.entries(flags)) {
    try {
      read.push(readFlag(key, each, $evaluators));
    } catch (fault) {
      if (!(fault instanceof Problem)) throw fault;
      faults.push({ key, fault });
    }
  }
  const [first] = faults;
  if (first !== undefined && read.length === 0) throw first.fault;
  const failed = faults.map(({ key, fault: { code, detail, param, message } }) => ({
    key: key.slice(0, KEY_CHARACTERS_TOLD),
    error: { code, code_detail: detail ?? null, param: param ?? null, message },
  }));
  return { flags: read, failed, metadata, replace };
}

function readFlag(key: string, sent: unknown, evaluators: flag.Members): flag.NewFlag {
  requireForm(flag.keyField, key, `flags.${key}`);
  const at = `flags.${key}.`;
  requireForm(flagdFlag, sent, at);
  const { state, variants, defaultVariant, targeting, metadata = {} } = sent;
  const type = flag.typeOf(Object.values(variants)[0]);
  if (type === null)
    throw invalidField(`${at}variants`, 'type', 'A flag has variants of one type: boolean, string, number or object.');
  const { description, ...others } = metadata;
  const isText = typeof description === 'string' && DESCRIPTION.test(description);
  const read = {
    key,
    type,
    variants,
    enabled: state === 'ENABLED',
    default_variant: defaultVariant || null,
    targeting: withEvaluators(targeting ?? {}, evaluators, `${at}targeting`) as flag.Members,
  };
  return flag.checkedFlag({ ...read, ...(isText ? { description, metadata: others } : { metadata }) }, at);
}

/** `at`: what its fields are called begins so. */
function requireForm<T extends TSchema>(schema: T, sent: unknown, at: string): asserts sent is Static<T> {
  if (Value.Check(schema, sent)) return;
  const [fault] = Value.Errors(schema, sent);
  const missing = Object(fault?.params).requiredProperties?.[0];
  const path = [...(fault?.instancePath.split('/').slice(1) ?? []), missing].filter(Boolean).join('.');
  const param = `${at}${path}`.replace(/\.$/, '').slice(0, 200);
  throw invalidField(
    param,
    fault?.keyword ?? 'type',
    `${param} ${fault === undefined ? 'is not valid' : schemaWords(fault as ErrorObject)}.`,
  );
}

/** The rule with evaluators in the place of references to them, within bounds: some that name one another twice would double at each level. */
function withEvaluators(rule: flag.Members, evaluators: flag.Members, param: string): unknown {
  let parts = 0;
  const insertEvaluators = (part: unknown, depth: number): unknown => {
    parts += 1;
    if (parts > RULE.nodesMax || depth > 2 * RULE.depthMax)
      throw invalidField(param, 'too_complex', `With its evaluators a rule has at most ${RULE.nodesMax} parts.`);
    if (part === null || typeof part !== 'object') return part;
    if (Array.isArray(part)) return part.map((each) => insertEvaluators(each, depth + 1));
    const { $ref: name, ...others } = part as flag.Members;
    if (typeof name !== 'string' || Object.keys(others).length > 0)
      return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, insertEvaluators(each, depth + 1)]));
    if (Object.hasOwn(evaluators, name)) return insertEvaluators(evaluators[name], depth + 1);
    const message = `There is no evaluator ${JSON.stringify(name.slice(0, 100))} in $evaluators.`;
    throw invalidField(param, 'unknown_evaluator', message);
  };
  return insertEvaluators(rule, 0);
}
