// Saved questions: a trend, a funnel or a retention under a name, asked of the last days whenever it is opened.
import Type, { type TObject } from 'typebox';
import { admission } from '../../../core/admission.ts';
import { savedOf } from '../../../kit/saved.ts';
import { problem } from '../problems.ts';
import { funnel } from './funnel.ts';
import { retention } from './retention.ts';
import { trends } from './trends.ts';

export const questionKinds = ['trends', 'funnel', 'retention'] as const;
export type QuestionKind = (typeof questionKinds)[number];

const { daysMax } = admission.call.saved;
const inputs: Readonly<Record<QuestionKind, TObject>> = {
  trends: trends.input,
  funnel: funnel.input,
  retention: retention.input,
};

/** The fields of the operation, without the times: a saved question is of the days before it is asked. */
function questionField(kind: QuestionKind) {
  const { from, to, ...properties } = inputs[kind].properties;
  return Type.Optional(Type.Object(properties, { description: `As analytics.${kind} takes it, without from and to.` }));
}

export const savedQuestions = savedOf({
  module: 'analytics',
  noun: 'question',
  key: 'question_id',
  prefix: 'ques_',
  table: 'analytics.question',
  fields: {
    trends: questionField('trends'),
    funnel: questionField('funnel'),
    retention: questionField('retention'),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: daysMax, description: 'Days up to now that it is asked of; 7 when absent.' }),
    ),
  },
  listed: { kind: Type.Enum([...questionKinds], { description: 'What it asks.' }) },
  summaryOf: (kept) => ({ kind: kindOf(kept) as QuestionKind }),
  check(kept) {
    if (questionKinds.filter((kind) => kept[kind] !== undefined).length === 1) return;
    const message = 'A question has one of trends, funnel and retention. To ask another kind, save another question.';
    throw problem('INVALID_REQUEST', { param: 'trends', message });
  },
  limit: { standard: 50, pro: 500, enterprise: 5_000 },
  words: {
    what: 'A question is a trend, a funnel or a retention, asked of the last days whenever it is opened.',
    create: ['save a query', 'saved funnel', 'saved report', 'insight'],
    list: ['saved queries', 'list reports', 'saved insights'],
  },
  example: { name: 'Sign-up to plan', funnel: { steps: [{ event: 'signed_up' }, { event: 'plan_chosen' }] }, days: 30 },
  changed: { name: 'From sign-up to plan' },
});

export function kindOf(kept: Readonly<Partial<Record<QuestionKind, unknown>>>): QuestionKind | undefined {
  return questionKinds.find((kind) => kept[kind] !== undefined);
}
