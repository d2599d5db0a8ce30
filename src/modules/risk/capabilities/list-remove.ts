import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { textOrNull } from '../../../kit/fields.ts';
import { entryOf, entryTable } from '../lists/entries.ts';
import { kindField, valueField } from '../schemas.ts';

export const listRemove = defineCapability()({
  method: 'DELETE',
  path: '/v1/risk/list/remove',
  summary: 'Removes an entry of the allow or block list.',
  description: 'The rules decide again, from the next call on.',
  keywords: ['unblock ip address', 'unban user'],
  input: Type.Object({ kind: kindField, value: valueField }),
  output: Type.Object({
    value: Type.String({ description: 'As it was stored.' }),
    deleted: Type.Boolean({ description: 'Whether there was such an entry.' }),
    status: textOrNull('`not_found` when there was none, else null.'),
  }),
  examples: [
    {
      title: 'A user is welcome again',
      before: [{ capability: 'risk.list.add', input: { list: 'block', kind: 'user', value: 'u-17' } }],
      input: { kind: 'user', value: 'u-17' },
      expect: { deleted: true },
    },
  ],
  run: ({ ctx, input }) => {
    const { entry, value } = entryOf(input.kind, input.value);
    return runWrite(ctx, async (tx) => {
      const deleted = await entryTable.remove(tx, ctx, entry);
      return { value, deleted, status: deleted ? null : 'not_found' };
    });
  },
});
