import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { members, revisionField } from '../flags/flag.ts';
import { type FlagdFile, readFlagd } from '../flags/flagd-file.ts';
import { recordChange, removeFlagsBut, saveMetadata, writeFlags } from '../flags/store.ts';
import { IMPORT_BYTES_MAX, IMPORT_FLAGS_MAX } from '../limits.ts';
import type { FlagsState } from '../state.ts';

export const importFlags = defineCapability<FlagsState>()({
  method: 'POST',
  path: '/v1/flags/import',
  summary: 'Imports feature flags in the form of flagd.',
  description:
    'Takes a flag definition of flagd (https://flagd.dev), all or nothing; a failure names the flag. Flags of the file take the place of those with the same key. ' +
    'The type of a flag follows from its values, its description stands in its metadata.',
  keywords: ['import flags', 'flagd file', 'move feature flags', 'restore feature flags'],
  input: Type.Object({
    flags: members('Flags by key, as flagd has them: state, variants, defaultVariant, targeting, metadata.', {
      ...{ minProperties: 1, maxProperties: IMPORT_FLAGS_MAX },
    }),
    $evaluators: Type.Optional(members('Rules by name, put in the place of each `{"$ref": "name"}`.')),
    metadata: Type.Optional(members('That of all flags; kept as it is when not sent.')),
    $schema: Type.Optional(Type.String({ description: 'Not looked at.' })),
    replace: Type.Optional(Type.Boolean({ default: false, description: 'Deletes flags that the file does not have.' })),
  }),
  output: Type.Object({
    imported: Type.Integer({ description: 'Flags that were set.' }),
    deleted: Type.Integer({ description: 'Flags that were deleted.' }),
    revision: revisionField,
  }),
  errors: ['QUOTA_EXCEEDED'],
  limits: { flags: `${IMPORT_FLAGS_MAX} in a call, 4 MiB.` },
  opaque: ['flags', '$evaluators', 'metadata'],
  bodyBytesMax: IMPORT_BYTES_MAX,
  bulk: {
    source: import.meta.url,
    reduce: (input: FlagdFile) => ({ value: readFlagd(input), transfer: [] }),
  },
  examples: [
    {
      title: 'A file of flagd',
      input: {
        flags: { welcome: { state: 'ENABLED', variants: { on: true, off: false }, defaultVariant: 'off' } },
      },
      expect: { imported: 1, deleted: 0 },
    },
  ],
  run({ ctx, input, state }) {
    // What `bulk` made of the input.
    const { flags, metadata, replace } = input as unknown as ReturnType<typeof readFlagd>;
    return writeFlags(ctx, state, async (tx, { nowMs }) => {
      const keys = flags.map(({ key }) => key);
      const removed = replace ? await removeFlagsBut(tx, ctx, keys) : [];
      const revision = await recordChange(tx, ctx, { action: 'import', saved: flags, removed, nowMs });
      if (metadata !== null) await saveMetadata(tx, ctx, metadata);
      return { imported: flags.length, deleted: removed.length, revision: Number(revision) };
    });
  },
});
