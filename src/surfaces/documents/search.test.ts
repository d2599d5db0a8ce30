// What engineers type finds the capability they mean.
import { expect, test } from 'vitest';
import { manifest } from '../../../test/support/capabilities.ts';
import { streamsOf } from '../../manifest/streams.ts';
import { findCapabilities, QUERY_CHARACTERS_MAX } from './search.ts';

const queries: readonly (readonly [query: string, id: string])[] = [
  ['enqueue a job', 'queue.publish'],
  ['delay a message', 'queue.publish'],
  ['sqs SendMessage', 'queue.publish'],
  ['send many messages in one request', 'queue.batch.publish'],
  ['receive messages from a queue', 'queue.consume'],
  ['worker pulls the next job', 'queue.consume'],
  ['job is done, remove it from the queue', 'queue.ack'],
  ['give a job back so it is retried', 'queue.nack'],
  ['my job takes longer than the visibility timeout', 'queue.extend'],
  ['make a FIFO queue', 'queue.create'],
  ['delete all messages in a queue', 'queue.purge'],
  ['how many messages are waiting', 'queue.stats'],
  ['dead letter queue messages', 'queue.dlq.list'],
  ['retry dead letters', 'queue.dlq.redrive'],
  ['push messages to my HTTP endpoint', 'queue.subscribe'],
  ['look at messages without taking them', 'queue.peek'],
  ['store embeddings', 'vector.upsert'],
  ['nearest neighbour search', 'vector.query'],
  ['semantic search over documents', 'vector.query'],
  ['create a pinecone index', 'vector.collection.create'],
  ['delete vectors by metadata', 'vector.delete_by_filter'],
  ['get a vector by its id', 'vector.fetch'],
  ['report an exception like sentry', 'errors.capture'],
  ['log a stack trace', 'errors.capture'],
  ['most frequent errors', 'errors.groups'],
  ['mark bug as fixed', 'errors.resolve'],
  ['mute an error', 'errors.ignore'],
  ['search exceptions by text', 'errors.search'],
  ['send log lines from opentelemetry', 'logs.ingest'],
  ['grep log lines', 'logs.search'],
  ['track a page view', 'analytics.capture'],
  ['send a counter', 'metrics.ingest'],
  ['promql over time for a graph', 'metrics.query_range'],
  ['run something every hour', 'cron.create'],
  ['schedule an http request for tomorrow', 'cron.create'],
  ['did my cron job run', 'cron.runs'],
  ['stop a schedule for a while', 'cron.pause'],
  ['alert me when errors rise', 'alerts.rule.set'],
  ['mute an alert during maintenance', 'alerts.silence'],
  ['which alerts fire now', 'alerts.list'],
  ['store a credential for agents', 'vault.connection.set'],
  ['call github with a stored token', 'vault.call'],
  ['who used the token', 'vault.calls'],
  ['set a dns record', 'dns.record.set'],
  ['add a txt record to my domain', 'dns.record.set'],
  ['find the mx records of a domain', 'dns.lookup'],
  ['has my dns change arrived everywhere', 'dns.propagation'],
  ['import a bind zone file', 'dns.zone.import'],
  ['openai chat completions', 'ai.chat'],
  ['ask an LLM a question', 'ai.chat'],
  ['text embedding', 'ai.embed'],
  ['how many tokens is this prompt', 'ai.count_tokens'],
  ['which models are there', 'ai.models'],
  ['run many prompts as a batch', 'ai.batch.create'],
  ['is my batch of prompts done', 'ai.batch.get'],
  ['push an event to browsers', 'realtime.publish'],
  ['who is online in a presence channel', 'realtime.members'],
  ['text to video', 'video.generate'],
  ['download the mp4', 'video.download_url'],
  ['is my video finished', 'video.status'],
  ['what would a video cost', 'video.quote'],
  ['make the video 4k', 'video.upscale'],
  ['resize an image', 'image.transform'],
  ['convert png to jpeg', 'image.transform'],
  ['width and height of a picture', 'image.info'],
  ['text to image', 'image.generate'],
  ['which image models are there', 'image.capabilities'],
  ['how much credit do I have left', 'account.balance'],
  ['limit monthly spending', 'account.budget.set'],
  ['buy credit', 'account.topup'],
  ['automatic top up when the balance is low', 'account.autorecharge.configure'],
  ['create an api key with limited scopes', 'account.keys.create'],
  ['delete an api key', 'account.keys.revoke'],
  ['rotate secret', 'account.keys.rotate'],
  ['my key leaked on github', 'account.keys.suspected_compromise'],
  ['aws access key for boto3', 'account.keys.aws'],
  ['cost by module', 'account.usage'],
  ['spending per day', 'account.usage.timeseries'],
  ['list all charges', 'account.ledger.list'],
  ['get notified by webhook', 'account.webhooks.register'],
  ['resend a webhook', 'account.webhooks.redeliver'],
  ['failed webhook deliveries', 'account.webhooks.deliveries'],
  ['send a test webhook', 'account.webhooks.test'],
  ['close my account', 'account.delete'],
  ['gdpr export', 'account.export'],
  ['upgrade my plan', 'account.tier.upgrade'],
  ['cancel subscription', 'account.subscription.cancel'],
  ['what are my limits', 'account.tier'],
  ['do not use this ai provider', 'account.routing.set'],
  ['add a credit card', 'account.payment_method.attach'],
  ['audit log', 'account.requests.list'],
  ['give a customer credit', 'operator.credit.grant'],
  ['suspend a customer', 'operator.accounts.update'],
  ['refund a payment', 'operator.topup.refund'],
  ['upload a file', 'storage.object.put'],
  ['download a file', 'storage.object.get'],
  ['presigned url for an upload', 'storage.presign'],
  ['link for people to download a file', 'storage.share.create'],
  ['make a pdf from html', 'pdf.create'],
  ['put two pdfs together', 'pdf.merge'],
  ['fill in a pdf form', 'pdf.fill'],
  ['read the text of a pdf', 'pdf.extract_text'],
  ['scrape a web page', 'web.fetch'],
  ['extract structured data from a website', 'web.fetch'],
  ['search the web', 'web.search'],
  ['list all pages of a website', 'web.map'],
  ['is the feature on for this user', 'flags.evaluate'],
  ['create a feature toggle', 'flags.create'],
  ['change the rollout percentage', 'flags.update'],
  ['is this signup fraud', 'risk.score'],
  ['block an ip address', 'risk.list.add'],
  ['send a text message', 'sms.send'],
  ['verify a phone number', 'sms.verify.start'],
  ['check a one-time code', 'sms.verify.check'],
  ['video conference room', 'rtc.token'],
  ['turn server credentials', 'rtc.ice_servers'],
  ['protect a form from bots', 'captcha.challenge'],
  ['check a recaptcha response', 'captcha.verify'],
  ['send an email to a customer', 'email.send'],
  ['read incoming e-mails', 'email.inbox.messages'],
  ['wait for a verification code by mail', 'email.inbox.messages'],
  ['dkim and spf of my domain', 'email.domain.verify'],
  ['addresses that bounced', 'email.suppression.list'],
  ['request schema of an operation', 'discovery.capability'],
  ['payload of an event', 'discovery.event'],
];

const found = async (query: string) => (await findCapabilities(manifest, query, () => true)).map(({ id }) => id);

test.each(queries)('%j is among the first three for %s', async (query, id) => {
  expect((await found(query)).slice(0, 3)).toContain(id);
});

test('every module is asked for', () => {
  const asked = new Set(queries.map(([, id]) => id.split('.')[0]));
  expect([...asked].sort()).toEqual(manifest.modules.map(({ name }) => name).sort());
});

test('a misspelt word and a beginning of one still find', async () => {
  expect((await found('simliarity search'))[0]).toBe('vector.query');
  expect((await found('acknowl'))[0]).toBe('queue.ack');
});

test('what says nothing finds nothing, and nothing said finds all, in the order of the manifest', async () => {
  expect(await found('how do I')).toEqual([]);
  expect(await found('zzzzqqqq')).toEqual([]);
  const all = [...manifest.capabilities, ...streamsOf(manifest.modules)];
  expect(await found(' ')).toEqual(all.map(({ id }) => id));
});

test('every capability has keywords, short ones, that no other has', () => {
  const owners = new Map<string, string>();
  for (const { id, keywords = [] } of manifest.capabilities) {
    expect(keywords.length, id).toBeGreaterThanOrEqual(2);
    for (const keyword of keywords) {
      expect(keyword, id).toMatch(/^.{3,40}$/);
      expect([keyword, owners.get(keyword.toLowerCase()) ?? id]).toEqual([keyword, id]);
      owners.set(keyword.toLowerCase(), id);
    }
  }
});

test.each(['x'.repeat(QUERY_CHARACTERS_MAX), 'message queue vector '.repeat(25), 'abcdefghij '.repeat(46)])(
  'the costliest questions cost little: %.12s…',
  async (query) => {
    await found(query);
    const before = process.threadCpuUsage();
    for (let i = 0; i < 20; i += 1) await found(query);
    const { user, system } = process.threadCpuUsage(before);
    // Some 0.5 ms each.
    expect((user + system) / 1_000 / 20).toBeLessThan(5);
  },
);
