// Object notifications to queues. Each is written in the commit of its change.
import { queueNotices } from '../../kit/queue-notices.ts';
import { NOTICE_WORK } from '../../objects/changes.ts';

/** The loop of one process. */
export const noticeLoop = queueNotices({ table: 'storage.notice', work: NOTICE_WORK });
