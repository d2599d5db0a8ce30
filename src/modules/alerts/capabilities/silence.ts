import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instantOrNull, orNull, textOrNull } from '../../../kit/fields.ts';
import { instantForm, parseInstant } from '../../../lib/instant.ts';
import { DAY_MS, isoOrNull } from '../../../lib/time.ts';
import { invalidField } from '../../../problems/problem.ts';
import { SILENCE_DAYS_MAX, SILENCES_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import { ruleMissing } from '../rules/resource.ts';
import { ruleTable } from '../rules/store.ts';
import { labelsField, ruleField, silenceWords, untilField } from '../schemas.ts';
import { otherSilences, removeSilence, saveSilence, silenceId } from '../silences/store.ts';
import type { AlertsState } from '../state.ts';
import { ruleFirst } from './examples.ts';

export const silence = defineCapability<AlertsState>()({
  method: 'POST',
  path: '/v1/alerts/silence',
  summary: 'Silences a rule, or alerts with certain labels.',
  description:
    'Until then nobody is told that they fire; states and history go on. What fires when the silence ends is told then; the end of what was told ' +
    'before is told all the same. A later silence of the same rule, or the same labels, takes its place; until: null ends it.',
  keywords: ['mute alert', 'snooze', 'maintenance window', 'stop notifications'],
  input: Type.Object({
    rule: Type.Optional(ruleField),
    labels: Type.Optional({
      ...labelsField,
      description: 'Series that have all of these, those of their rule among them.',
    }),
    until: untilField,
    words: Type.Optional(silenceWords),
  }),
  output: Type.Object({
    rule: textOrNull('The rule; null: labels say which.'),
    labels: orNull<Record<string, string>>({ type: 'object', additionalProperties: true }, 'The labels; null: a rule.'),
    until: instantOrNull('Until when; null: it is over.'),
    words: textOrNull('Why.'),
  }),
  errors: ['RULE_NOT_FOUND', 'QUOTA_EXCEEDED'],
  limits: { silences: `${SILENCES_MAX} at once, of up to ${SILENCE_DAYS_MAX} days each.` },
  opaque: ['labels'],
  examples: [
    {
      title: 'While it is mended',
      before: [ruleFirst],
      input: { rule: 'checkout-errors', until: null },
      expect: { rule: 'checkout-errors', until: null },
    },
  ],
  async run({ ctx, input }) {
    const { accountId, principal } = ctx;
    const { rule = null, labels = null, until, words = null } = input;
    if ((rule === null) === (labels === null) || (labels !== null && Object.keys(labels).length === 0))
      throw invalidField('rule', 'one_of', 'Send rule or labels, one of them: what is silenced.');
    const untilMs = until === null ? null : parseInstant(until);
    if (until !== null && untilMs === null) throw invalidField('until', 'format', `until must be ${instantForm}.`);
    return runWrite(ctx, async (tx, { nowMs }) => {
      const id = silenceId(rule, labels);
      if (rule !== null && (await ruleTable.find(tx, ctx, rule)) === null) throw ruleMissing();
      if (untilMs !== null && (untilMs <= nowMs || untilMs > nowMs + SILENCE_DAYS_MAX * DAY_MS))
        throw invalidField(
          'until',
          'range',
          `until is a time to come, within ${SILENCE_DAYS_MAX} days; null ends a silence.`,
        );
      if (untilMs === null) await removeSilence(tx, accountId, id);
      else {
        if ((await otherSilences(tx, accountId, id)) >= SILENCES_MAX)
          throw problem('QUOTA_EXCEEDED', { message: `An account has at most ${SILENCES_MAX} silences at once.` });
        const row = { rule, labels: labels === null ? null : JSON.stringify(labels), words, key_id: principal.id };
        saveSilence(tx, ctx, { ...row, silence_id: id, until_at: untilMs, created_at: nowMs });
      }
      return { rule, labels, until: isoOrNull(untilMs), words };
    });
  },
});
