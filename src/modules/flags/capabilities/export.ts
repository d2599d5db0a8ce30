import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { type FlagRow, settingsOf } from '../flags/definition.ts';
import { accountOf, allFlags } from '../flags/store.ts';
import type { FlagsState } from '../state.ts';

export const exportFlags = defineCapability<FlagsState>()({
  method: 'GET',
  path: '/v1/flags/export',
  summary: 'Exports all feature flags in the form of flagd.',
  description:
    'What `data` holds is a flag definition of flagd (https://flagd.dev), which flagd and flags.import read. The description of a flag stands in its metadata.',
  keywords: ['export flags', 'flagd json', 'back up feature flags'],
  input: Type.Object({}),
  output: Type.Object({
    flags: Type.Record(Type.String(), Type.Unknown(), { description: 'Flags by key, as flagd has them.' }),
    metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'That of all flags.' }),
  }),
  examples: [{ title: 'All flags', input: {} }],
  async run({ ctx, state }) {
    ctx.requireAnswerRoom();
    const { metadata } = await accountOf(ctx.core.db, ctx.accountId);
    const texts: string[] = [];
    for await (const rows of allFlags(ctx.core.db, ctx.accountId, 50)) {
      await state.slices.next();
      for (const row of rows) {
        if (state.slices.isOver) await state.slices.next();
        const text = `${JSON.stringify(row.key)}:${JSON.stringify(flagdFlag(row))}`;
        ctx.holdAnswer(text.length);
        texts.push(text);
      }
    }
    return { data: new JsonText(`{"flags":{${texts.join(',')}},"metadata":${JSON.stringify(metadata)}}`) };
  },
});

function flagdFlag(row: FlagRow) {
  const { enabled, default_variant, variants, targeting, metadata, description } = settingsOf(row);
  return {
    ...{ state: enabled ? 'ENABLED' : 'DISABLED', variants, defaultVariant: default_variant, targeting },
    metadata: { ...metadata, ...(description === null ? {} : { description }) },
  };
}
