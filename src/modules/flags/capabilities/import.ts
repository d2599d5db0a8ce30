import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { change, writeFlags } from '../flags/change.ts';
import type { NewFlag } from '../flags/definition.ts';
import { type FlagdFile, readFlagd } from '../flags/flagd-file.ts';
import { flagSizes, saveMetadata } from '../flags/store.ts';
import { IMPORT_BYTES_MAX, IMPORT_FLAGS_MAX } from '../limits.ts';
import type { FlagsState } from '../state.ts';

interface ImportBody {
  readonly flags: readonly NewFlag[];
  readonly metadata: object | null;
  readonly replace: boolean;
}

const members = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });

export const importFlags = defineCapability<FlagsState>()({
  method: 'POST',
  path: '/v1/flags/import',
  summary: 'Imports feature flags in the form of flagd.',
  description:
    'Takes a flag definition of flagd (https://flagd.dev), all or nothing; a failure names the flag. Flags of the file take the place of those with the same key; with ' +
    '`replace` all others are deleted. `$evaluators` are put in their places. The type of a flag follows from its values.',
  keywords: ['import flags', 'flagd file', 'move feature flags', 'restore feature flags'],
  input: Type.Object({
    flags: Type.Record(Type.String(), Type.Unknown(), {
      ...{ minProperties: 1, maxProperties: IMPORT_FLAGS_MAX },
      description: 'Flags by key, as flagd has them: state, variants, defaultVariant, targeting, metadata.',
    }),
    $evaluators: Type.Optional(members('Rules by name, which others name as `{"$ref": "name"}`.')),
    metadata: Type.Optional(members('That of all flags; kept as it is when not sent.')),
    $schema: Type.Optional(Type.String({ description: 'Not looked at.' })),
    replace: Type.Optional(Type.Boolean({ default: false, description: 'Deletes flags that the file does not have.' })),
  }),
  output: Type.Object({
    imported: Type.Integer({ description: 'Flags that were set.' }),
    deleted: Type.Integer({ description: 'Flags that were deleted.' }),
    revision: Type.Integer({ description: 'Revision of the flags now.' }),
  }),
  errors: ['QUOTA_EXCEEDED'],
  limits: { flags: `${IMPORT_FLAGS_MAX} in a call, 4 MiB.` },
  opaque: ['flags', '$evaluators', 'metadata'],
  bodyBytesMax: IMPORT_BYTES_MAX,
  bulk: {
    source: import.meta.url,
    reduce: (input: FlagdFile & { readonly replace?: boolean }) => {
      const value = { ...readFlagd(input), replace: input.replace ?? false };
      return { value: value satisfies ImportBody, transfer: [] };
    },
  },
  examples: [
    {
      title: 'A file of flagd',
      input: {
        flags: {
          welcome: {
            ...{ state: 'ENABLED', variants: { on: true, off: false }, defaultVariant: 'off' },
            targeting: { if: [{ ends_with: [{ var: 'email' }, '@example.org'] }, 'on', null] },
          },
        },
      },
      expect: { imported: 1, deleted: 0 },
    },
  ],
  run({ ctx, input, state }) {
    // What `bulk` made of the input.
    const { flags, metadata, replace } = input as unknown as ImportBody;
    return writeFlags(ctx, state, async (tx, { nowMs }) => {
      const before = await flagSizes(tx, ctx.accountId);
      const kept = new Set(flags.map(({ key }) => key));
      const removed = replace ? [...before.keys()].filter((key) => !kept.has(key)) : [];
      const sizeOf = (key: string) => before.get(key) ?? 0;
      const bytes = flags.reduce((sum, flag) => sum + flag.bytes - sizeOf(flag.key), 0);
      const revision = await change(
        tx,
        ctx,
        {
          ...{ action: 'import', saved: flags, removed, bytes: removed.reduce((sum, key) => sum - sizeOf(key), bytes) },
          added: flags.filter(({ key }) => !before.has(key)).length - removed.length,
        },
        nowMs,
      );
      if (metadata !== null) await saveMetadata(tx, ctx.accountId, metadata);
      return { imported: flags.length, deleted: removed.length, revision: Number(revision) };
    });
  },
});
