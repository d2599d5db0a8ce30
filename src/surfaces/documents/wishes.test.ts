// What people who do not know our words wish for finds the capability that does it, as the first of all. `heldOut` was written with the
// others and is not to be tuned for: when words are added, they are added for `wishes`.
import { expect, test } from 'vitest';
import { manifest } from '../../../test/support/capabilities.ts';
import { findCapabilities, findPlanned } from './search.ts';

type Wish = readonly [wish: string, id: string];

const wishes: readonly Wish[] = [
  ['store a job for later', 'queue.publish'],
  ['put a task in the background', 'queue.publish'],
  ['send a message that arrives in ten minutes', 'queue.publish'],
  ['fetch the next piece of work', 'queue.consume'],
  ['tell the queue the work is finished', 'queue.ack'],
  ['put the message back, something went wrong', 'queue.nack'],
  ['I need more time for this job', 'queue.extend'],
  ['how long is the queue', 'queue.stats'],
  ['see the messages that failed too often', 'queue.dlq.list'],
  ['try failed messages again', 'queue.dlq.redrive'],
  ['empty a queue', 'queue.purge'],
  ['make a new queue', 'queue.create'],
  ['send a hundred jobs at once', 'queue.batch.publish'],
  ['call my server for every message', 'queue.subscribe'],
  ['get rid of a queue', 'queue.delete'],
  ['change how often a message is retried', 'queue.update'],
  ['save embeddings', 'vector.upsert'],
  ['find similar documents', 'vector.query'],
  ['make an index for embeddings', 'vector.collection.create'],
  ['remove some vectors', 'vector.delete'],
  ['change the metadata of a vector', 'vector.update'],
  ['which collections do I have', 'vector.collection.list'],
  ['read back a stored vector', 'vector.fetch'],
  ['report a crash', 'errors.capture'],
  ['which bugs happen most', 'errors.groups'],
  ['find errors that mention a word', 'errors.search'],
  ['the bug is fixed', 'errors.resolve'],
  ['stop bothering me about this error', 'errors.ignore'],
  ['give this bug to a colleague', 'errors.assign'],
  ['show one error with its stack trace', 'errors.get'],
  ['do something every night', 'cron.create'],
  ['call a url every five minutes', 'cron.create'],
  ['what ran last night', 'cron.runs'],
  ['pause a scheduled job', 'cron.pause'],
  ['turn a schedule on again', 'cron.resume'],
  ['change the time of a scheduled job', 'cron.update'],
  ['tell my server when something happens', 'account.webhooks.register'],
  ['send the webhook again', 'account.webhooks.redeliver'],
  ['why did my webhook not arrive', 'account.webhooks.deliveries'],
  ['try out my webhook', 'account.webhooks.test'],
  ['turn a webhook off', 'account.webhooks.update'],
  ['make a video from text', 'video.generate'],
  ['is the video ready', 'video.status'],
  ['how much will the video cost', 'video.quote'],
  ['get the video file', 'video.download_url'],
  ['stop making a video', 'video.cancel'],
  ['make a video longer', 'video.extend'],
  ['talk to a language model', 'ai.chat'],
  ['summarize a text', 'ai.chat'],
  ['turn text into numbers for search', 'ai.embed'],
  ['which ai models can I use', 'ai.models'],
  ['process a thousand prompts overnight', 'ai.batch.create'],
  ['count tokens before sending', 'ai.count_tokens'],
  ['how much money is left', 'account.balance'],
  ['do not spend more than ten dollars a day', 'account.budget.set'],
  ['add money', 'account.topup'],
  ['refill automatically', 'account.autorecharge.configure'],
  ['give another program access with fewer rights', 'account.keys.create'],
  ['my api key was stolen', 'account.keys.suspected_compromise'],
  ['what did I spend last month', 'account.usage'],
];

const heldOut: readonly Wish[] = [
  ['keep work until a worker has time', 'queue.publish'],
  ['take several jobs off the queue', 'queue.consume'],
  ['peek without removing', 'queue.peek'],
  ['acknowledge many messages', 'queue.ack'],
  ['how many messages failed', 'queue.stats'],
  ['search by meaning', 'vector.query'],
  ['delete a whole collection', 'vector.collection.delete'],
  ['log an exception', 'errors.capture'],
  ['reopen a bug', 'errors.unresolve'],
  ['write a note on an error', 'errors.comment'],
  ['schedule a request for next monday', 'cron.create'],
  ['delete a scheduled job', 'cron.delete'],
  ['list my webhooks', 'account.webhooks.list'],
  ['animate a picture', 'video.generate'],
  ['delete a video', 'video.delete'],
  ['ask gpt a question', 'ai.chat'],
  ['see how my batch is going', 'ai.batch.get'],
  ['new secret for my key', 'account.keys.rotate'],
  ['list my api keys', 'account.keys.list'],
  ['see every single charge', 'account.ledger.list'],
];

/** As it is for everybody but the operator. */
const isShown = ({ id }: { readonly id: string }) => !id.startsWith('operator.');

async function missed(table: readonly Wish[]): Promise<string[]> {
  const told: string[] = [];
  for (const [wish, id] of table) {
    const [first, ...others] = (await findCapabilities(manifest, wish, isShown)).map((each) => each.id);
    if (first !== id) told.push(`${wish}: ${first} before ${id} (${others.indexOf(id) + 2})`);
  }
  return told;
}

test('of 60 wishes 56 find what does it first, and all name what there is', async () => {
  for (const [, id] of [...wishes, ...heldOut]) expect(manifest.byId.has(id), id).toBe(true);
  const found = await missed(wishes);
  expect(wishes).toHaveLength(60);
  expect(found.length, found.join('\n')).toBeLessThanOrEqual(4);
});

test('of 20 that were held out 14 do', async () => {
  const found = await missed(heldOut);
  expect(found.length, found.join('\n')).toBeLessThanOrEqual(6);
});

test.each([['tables of an sql database', 'db']])('%j belongs to %s, which is planned', async (wish, module) => {
  expect(await findPlanned(manifest, wish)).toEqual([module]);
});

test('what can be done here is called planned by no wish', async () => {
  const told = await Promise.all(
    [...wishes, ...heldOut].map(async ([wish]) => [wish, ...(await findPlanned(manifest, wish))]),
  );
  expect(told.filter(([, ...modules]) => modules.length > 0)).toEqual([]);
});
