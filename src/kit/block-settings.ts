// Retention settings of records stored in blocks: the capabilities settings/get and settings/set of every module that stores blocks.
import Type from 'typebox';
import type { BlockKind } from '../blocks/block.ts';
import type { BlockStore } from '../blocks/store.ts';
import { runWrite } from '../core/idempotency/write.ts';
import { defineCapability } from './capability.ts';

export interface KeptRecords extends Pick<BlockKind, 'keepDays'> {
  readonly module: string;
  /** What is kept, in the plural: `log records`. */
  readonly noun: string;
}

/** `settings/get` and `settings/set` of the module. */
export function blockSettings(kept: KeptRecords) {
  const { module, noun } = kept;
  const { standard, max } = kept.keepDays;
  const settings = Type.Object({
    retention_days: Type.Integer({ minimum: 1, maximum: max, description: `Days that ${noun} are kept.` }),
  });
  const getSettings = defineCapability<{ readonly store: BlockStore }>()({
    method: 'GET',
    path: `/v1/${module}/settings/get`,
    summary: `Shows how long ${noun} are kept.`,
    description: `Days that ${noun} are kept, by their timestamps: ${standard} unless ${module}.settings.set says otherwise.`,
    keywords: [`${module} retention days`, `how long ${module} are kept`],
    input: Type.Object({}),
    output: settings,
    examples: [{ title: 'As it begins', input: {}, expect: { retention_days: standard } }],
    async run({ ctx, state }) {
      return { data: { retention_days: await state.store.keepDays(ctx.core.db, ctx.accountId) } };
    },
  });
  const setSettings = defineCapability<{ readonly store: BlockStore }>()({
    method: 'PUT',
    path: `/v1/${module}/settings/set`,
    summary: `Sets how long ${noun} are kept.`,
    description: `A shorter time hides older ${noun} at once, for good: they are deleted soon after. A longer one keeps what is there from now on.`,
    keywords: [`change ${module} retention`, `delete old ${module}`],
    input: settings,
    output: settings,
    examples: [{ title: 'Thirty days', input: { retention_days: 30 }, expect: { retention_days: 30 } }],
    run({ ctx, input, state }) {
      return runWrite(ctx, async (tx) => {
        await state.store.setKeepDays(tx, ctx.accountId, input.retention_days);
        return { retention_days: input.retention_days };
      });
    },
  });
  return { kept, getSettings, setSettings };
}

export type BlockSettings = ReturnType<typeof blockSettings>;
