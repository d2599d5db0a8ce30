// Error codes of queues; module files throw them, and shared ones, with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const queueProblems = {
  QUEUE_NOT_FOUND: problemEntry(
    404,
    'The queue does not exist.',
    'Create it with POST /v1/queue/create, or check the name with GET /v1/queue/list.',
  ),
  MESSAGE_TOO_LARGE: problemEntry(
    400,
    'The message is larger than the queue allows.',
    'Size is the UTF-8 bytes of the payload as sent plus its headers; raise max_message_size_kb (at most 256) or send a reference.',
  ),
  MESSAGE_NOT_IN_FLIGHT: problemEntry(
    409,
    'The message is not in flight: the receipt is stale, or the message is gone.',
    'Nothing was changed. Whoever has the latest receipt of the message acknowledges it or gives it back.',
  ),
  SUBSCRIPTION_NOT_FOUND: problemEntry(404, 'The subscription does not exist.', 'Check the subscription id.'),
};

export const problem = problemsWith(queueProblems);
