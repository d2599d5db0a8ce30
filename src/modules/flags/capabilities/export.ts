import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { members } from '../flags/flag.ts';
import { flagdFlag } from '../flags/flagd-file.ts';
import { accountOf, allFlags } from '../flags/store.ts';
import type { FlagsState } from '../state.ts';

const ROWS_AT_ONCE = 50;

export const exportFlags = defineCapability<FlagsState>()({
  method: 'GET',
  path: '/v1/flags/export',
  summary: 'Exports all feature flags in the form of flagd.',
  description: 'A flag definition of flagd (https://flagd.dev), which flagd and flags.import read.',
  keywords: ['export flags', 'flagd json', 'back up feature flags'],
  input: Type.Object({}),
  output: Type.Object({
    flags: members('Flags by key, as flagd has them.'),
    metadata: members('That of all flags.'),
  }),
  examples: [{ title: 'All flags', input: {} }],
  async run({ ctx, state: { slices } }) {
    ctx.requireAnswerRoom();
    const { metadata } = await accountOf(ctx.core.db, ctx.accountId);
    const texts: string[] = [];
    for await (const rows of allFlags(ctx.core.db, ctx, ROWS_AT_ONCE)) {
      await slices.next();
      for (const row of rows) {
        if (slices.isOver) await slices.next();
        const text = `${JSON.stringify(row.key)}:${JSON.stringify(flagdFlag(row))}`;
        ctx.holdAnswer(text.length);
        texts.push(text);
      }
    }
    return { data: new JsonText(`{"flags":{${texts.join(',')}},"metadata":${JSON.stringify(metadata)}}`) };
  },
});
