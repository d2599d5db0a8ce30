// A saved question: asked of its days up to now, renamed, deleted.
import { field, numberOf, textOf } from '../../../kit/console/form.ts';
import { resourcePages, settingsPage } from '../../../kit/console/resource-pages.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { html } from '../../../lib/html.ts';
import { kindOf, savedQuestions } from '../capabilities/saved-questions.ts';
import { pictureOf } from './pictures.ts';
import { type Asked, lastDays } from './questions.ts';

type Question = DataOf<typeof savedQuestions.get>;

const DAYS_USUAL = 7;

export const questionPath = (id: string) => `/analytics/questions/${encodeURIComponent(id)}`;

export const questionPages = resourcePages<Question>({
  name: 'analytics_question',
  noun: 'question',
  path: '/analytics/questions/{id}',
  list: { title: 'Analytics', path: '/analytics' },
  needs: savedQuestions.get,
  read: (visit) => visit.need(savedQuestions.get, { question_id: visit.params.id }),
  nameOf: ({ name }) => name,
  about: (_, of) => html`<p class="quiet">${aboutText(of)}</p>`,
  pages: [
    { below: '', tab: 'Answer', show },
    settingsPage<Question>({
      capability: savedQuestions.update,
      done: 'Saved.',
      input: (form, { params }) => ({
        question_id: params.id,
        name: textOf(form, 'name'),
        ...(form.has('days') ? { days: numberOf(form, 'days') } : {}),
      }),
      fields: (visit, act, of) => {
        const name = {
          name: 'name',
          label: 'Name',
          value: of.name,
          isRequired: true,
          attributes: html`maxlength="100"`,
        };
        const days = {
          name: 'days',
          label: 'Days up to now',
          value: String(of.days ?? DAYS_USUAL),
          isRequired: true,
          attributes: html`inputmode="numeric"`,
        };
        return html`${field(visit, act, name)}${kindOf(of) === 'retention' ? '' : field(visit, act, days)}`;
      },
    }),
  ],
  deletion: {
    capability: savedQuestions.remove,
    field: 'question_id',
    warning: () => 'Its name and what it asks are gone. Events stay.',
    effect: () => 'Its name and what it asks are gone. The events that it counts stay.',
  },
});

function askedOf(of: Question): Asked {
  const kind = kindOf(of) ?? 'trends';
  return { kind, input: (of[kind] ?? {}) as Readonly<Record<string, unknown>> };
}

function aboutText(of: Question): string {
  const { kind, input } = askedOf(of);
  if (kind === 'retention') return 'Retention: who came back, period by period.';
  const days = `of the last ${of.days ?? DAYS_USUAL} days`;
  if (kind === 'trends') return `Trend ${days}.`;
  const steps = (input.steps as readonly { readonly event: string }[]).map(({ event }) => event.slice(0, 60));
  return `Funnel ${days}: ${steps.join(', ')}.`;
}

async function show(visit: Visit, of: Question) {
  const picture = await pictureOf(visit, askedOf(of), lastDays(visit.nowMs, of.days ?? DAYS_USUAL));
  return { content: picture, hasPlots: true };
}
