import { listOf } from '../../../kit/resource.ts';
import { shares } from '../shares/shares.ts';

export const listShares = listOf(shares, {
  path: '/v1/storage/share/list',
  description:
    'Links for people, newest first, with how often each was used. Links that have ended are kept for 30 days.',
  keywords: ['list shared links', 'who can download my files'],
  examples: [{ title: 'The newest ones', input: { limit: 10 }, expect: { has_more: false } }],
});
