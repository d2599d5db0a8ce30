import { deleteOf } from '../../../kit/resource.ts';
import { shares } from '../shares/shares.ts';

export const revokeShare = deleteOf(shares, {
  path: '/v1/storage/share/revoke/{share_id}',
  summary: 'Ends a link for people.',
  description: 'The address answers 403 at once, on every process.',
  keywords: ['stop sharing', 'revoke link'],
  examples: [
    {
      title: 'Not any more',
      before: [
        { capability: 'storage.bucket.create', input: { bucket: 'reports' } },
        { capability: 'storage.object.put', input: { bucket: 'reports', key: 'november.csv', content: 'a,b\n' } },
        { capability: 'storage.share.create', input: { bucket: 'reports', key: 'november.csv' } },
      ],
      input: { share_id: '$2.share_id' },
      expect: { deleted: true },
    },
  ],
});
