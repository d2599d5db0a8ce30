// Tenant-isolation fixture of people and events, for the contract tests: creates them, and lists calls of another account that name them.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

export const tenants: TenantFixture = {
  first: 'analytics.capture',
  nobody: {
    analyticsPerson: 'nobody-has-it',
    analyticsEvent: 'never_happened',
    question_id: `ques_${'1'.repeat(22)}`,
  },
  async fill({ act }) {
    const items = ['seen_one', 'seen_two'].map((event) => ({ event, distinct_id: 'person-of-tenant' }));
    await act('analytics.capture', { items });
    await act('analytics.settings.set', { retention_days: 200 });
    await act('analytics.question.create', { name: 'First', trends: {} });
    const { question_id } = await act('analytics.question.create', { name: 'Second', retention: {} });
    return { analyticsPerson: 'person-of-tenant', analyticsEvent: 'seen_one', question_id };
  },
  async fillOther({ act }) {
    await act('analytics.capture', { event: 'seen_by_another', distinct_id: 'person-of-another' });
    const { question_id } = await act('analytics.question.create', { name: 'Of another', trends: {} });
    return { analyticsPerson: 'person-of-another', analyticsEvent: 'seen_by_another', question_id };
  },
  aims: {
    'analytics.question.create': [],
    'analytics.question.update': [({ question_id }) => ({ question_id, name: 'taken' })],
    'analytics.capture': [],
    'analytics.trends': [({ analyticsEvent }) => ({ events: [analyticsEvent] })],
    'analytics.funnel': [({ analyticsEvent }) => ({ steps: [{ event: analyticsEvent }, { event: analyticsEvent }] })],
    'analytics.retention': [({ analyticsEvent }) => ({ start_event: analyticsEvent })],
    'analytics.events': [
      ({ analyticsPerson }) => ({ distinct_id: analyticsPerson }),
      ({ analyticsEvent }) => ({ event: analyticsEvent }),
    ],
    'analytics.person': [({ analyticsPerson }) => ({ distinct_id: analyticsPerson })],
    'analytics.person.delete': [({ analyticsPerson }) => ({ distinct_id: analyticsPerson })],
  },
};
