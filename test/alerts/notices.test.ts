// Notices: who is told what, how often, and what is never told.
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { listMails } from '../../src/people/mail/mail.ts';
import { createPerson } from '../../src/people/persons.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { Alerts, type Data, ENV, Receiver, WAIT } from './harness.ts';

let service: TestService;
let receiver: Receiver;

beforeAll(async () => {
  service = await startTestService({ env: ENV });
  receiver = await Receiver.start();
});
afterAll(async () => {
  await receiver.stop();
  await service.stop();
});

const depth = { when: { queue: { queue: 'jobs', measure: 'depth' } }, above: 1 };

class Own extends Alerts {
  /** Its own address of the receiver. */
  readonly url = receiver.url(`/${this.account.accountId}`);

  static async begin(): Promise<Own> {
    const { account } = await Alerts.at(service);
    const own = new Own(service, account);
    await own.ok('POST', '/v1/queue/create', { name: 'jobs' });
    return own;
  }

  async fill(messages: number): Promise<void> {
    await this.ok('POST', '/v1/queue/purge/jobs', {});
    for (let n = 0; n < messages; n += 1) await this.ok('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n } });
  }

  told(): Data[] {
    return receiver.told.filter(({ body }) => this.names.has(body.rule)).map(({ body }) => body);
  }

  readonly names = new Set<string>();

  /** A rule with a name that no other account has. */
  async ruleTo(fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const rule = `r-${this.account.accountId}`;
    this.names.add(rule);
    await this.set({ rule, ...depth, notify: [{ url: this.url }], ...fields });
    await this.looked(rule);
    return rule;
  }

  async toldTypes(wanted: readonly string[]): Promise<void> {
    await vi.waitFor(() => expect(this.told().map(({ type }) => type)).toEqual(wanted), WAIT);
  }
}

describe('a signed POST', () => {
  test('is told once when a rule fires, and once when it is over', async () => {
    const own = await Own.begin();
    const rule = await own.ruleTo({ title: 'Depth {{ $value }} of {{ $labels.team }}', labels: { team: 'shop' } });
    await own.fill(3);
    await own.next(rule);
    await own.next(rule);
    await own.fill(0);
    await own.next(rule);
    await own.next(rule);
    await own.toldTypes(['alert.firing', 'alert.resolved']);
    const [firing, resolved] = own.told();
    expect(firing).toMatchObject({
      rule,
      title: 'Depth 3 of shop',
      severity: 'warning',
      labels: { team: 'shop' },
      above: 1,
      repeated: false,
      series: [{ labels: {}, value: 3 }],
      more_series: 0,
      url: `${service.url}/console/alerts/${rule}`,
    });
    expect(resolved).toMatchObject({ rule, series: [{ value: 0 }] });
    expect((await own.history(rule)).map(({ notices }) => notices)).toEqual([1, 1]);
  });

  test("is signed with the account's secret, as webhooks of jobs are", async () => {
    const own = await Own.begin();
    const rule = await own.ruleTo();
    await own.fill(2);
    await own.next(rule);
    await own.toldTypes(['alert.firing']);
    const { secret } = await own.ok('GET', '/v1/account/webhooks/default_secret');
    const told = receiver.told.find(({ body }) => body.rule === rule);
    expect(new Webhook(secret).verify(told?.text ?? '', told?.headers as Record<string, string>)).toMatchObject({
      rule,
    });
  });

  test('is told again while it fires, as often as was asked', async () => {
    const own = await Own.begin();
    const rule = await own.ruleTo({ repeat_seconds: 120 });
    await own.fill(2);
    for (let n = 0; n < 5; n += 1) await own.next(rule);
    await own.toldTypes(['alert.firing', 'alert.firing', 'alert.firing']);
    expect(own.told().map(({ repeated }) => repeated)).toEqual([false, true, true]);
  });

  test('is sent again until it is taken', async () => {
    const own = await Own.begin();
    const rule = await own.ruleTo();
    let refusals = 1;
    receiver.answer = (told, response) => {
      response.statusCode = told.body.rule === rule && refusals-- > 0 ? 500 : 200;
      response.end();
    };
    await own.fill(2);
    await own.next(rule);
    await own.toldTypes(['alert.firing']);
    await service.advance(10);
    await own.toldTypes(['alert.firing', 'alert.firing']);
    const ids = receiver.told.filter(({ body }) => body.rule === rule).map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
  });

  test('that its receiver refuses for good is given up, and the history says so', async () => {
    const own = await Own.begin();
    const rule = await own.ruleTo();
    receiver.answer = (told, response) => {
      response.statusCode = told.body.rule === rule ? 410 : 200;
      response.end();
    };
    await own.fill(2);
    await own.next(rule);
    await vi.waitFor(async () => {
      expect((await own.history(rule))[0].words).toBe(`A notice to ${own.url} was given up: it answered 410`);
    }, WAIT);
  });

  test('tells what was told to fire that it is over when its rule is deleted or watches something else', async () => {
    const own = await Own.begin();
    const rule = await own.ruleTo();
    await own.fill(2);
    await own.next(rule);
    await own.set({ rule, ...depth, above: 1.5, notify: [{ url: own.url }] });
    await own.next(rule);
    await own.ok('DELETE', `/v1/alerts/rule/delete/${rule}`);
    await own.toldTypes(['alert.firing', 'alert.resolved', 'alert.firing', 'alert.resolved']);
    expect(own.told().map(({ words }) => words)).toEqual([
      null,
      'The rule was changed.',
      null,
      'The rule was deleted.',
    ]);
  });

  test('tells once that a rule cannot be looked at', async () => {
    const own = await Own.begin();
    const rule = await own.ruleTo();
    await own.ok('DELETE', '/v1/queue/delete/jobs');
    await own.next(rule);
    await own.next(rule);
    await own.ok('POST', '/v1/queue/create', { name: 'jobs' });
    await own.next(rule);
    await own.toldTypes(['alert.unknown', 'alert.resolved']);
  });
});

describe('a silence', () => {
  const untilIn = async (own: Own, seconds: number) => new Date((await own.nowMs()) + seconds * 1_000).toISOString();

  test('of a rule tells nothing, and what still fires at its end is told then', async () => {
    const own = await Own.begin();
    const rule = await own.ruleTo();
    await own.ok('POST', '/v1/alerts/silence', { rule, until: await untilIn(own, 150), words: 'work' });
    expect((await own.get(rule)).silenced_until).not.toBeNull();
    await own.fill(2);
    expect((await own.next(rule)).state).toBe('firing');
    await own.next(rule);
    expect((await own.history(rule)).map(({ notices }) => notices)).toEqual([0]);
    await own.next(rule);
    await own.toldTypes(['alert.firing']);
    expect((await own.get(rule)).silenced_until).toBeNull();
  });

  test('of labels meets the rules that have them, and can be ended', async () => {
    const own = await Own.begin();
    const rule = await own.ruleTo({ labels: { team: 'shop', tier: '1' } });
    const labels = { team: 'shop' };
    await own.ok('POST', '/v1/alerts/silence', { labels, until: await untilIn(own, 3_600) });
    await own.fill(2);
    await own.next(rule);
    expect(await own.ok('POST', '/v1/alerts/silence', { labels, until: null })).toMatchObject({ until: null });
    await own.next(rule);
    await own.toldTypes(['alert.firing']);
  });

  test('needs a rule or labels, and a time to come', async () => {
    const own = await Own.begin();
    const until = await untilIn(own, 60);
    expect(await own.fails('POST', '/v1/alerts/silence', { until })).toEqual(['VALIDATION_FAILED', 'rule', 'one_of']);
    expect(await own.fails('POST', '/v1/alerts/silence', { labels: {}, until })).toEqual([
      'VALIDATION_FAILED',
      'rule',
      'one_of',
    ]);
    expect(await own.fails('POST', '/v1/alerts/silence', { rule: 'none', until })).toEqual([
      'RULE_NOT_FOUND',
      'rule',
      undefined,
    ]);
    const past = await untilIn(own, -60);
    expect(await own.fails('POST', '/v1/alerts/silence', { labels: { a: 'b' }, until: past })).toEqual([
      'VALIDATION_FAILED',
      'until',
      'range',
    ]);
  });
});

describe('other receivers', () => {
  test('a queue gets a message, and mail goes to the confirmed address', async () => {
    const own = await Own.begin();
    const { accountId } = own.account;
    const email = `${accountId.toLowerCase()}@example.org`;
    const nowMs = await own.nowMs();
    await service.core.db.transaction((tx) => createPerson(tx, { accountId, email, name: null, role: 'owner' }, nowMs));
    await own.ok('POST', '/v1/queue/create', { name: 'told' });
    const rule = await own.ruleTo({ title: 'Deep <b>', notify: [{ queue: 'told' }, { email }] });
    await own.fill(2);
    await own.next(rule);
    const message = await vi.waitFor(async () => {
      const { items } = await own.ok('POST', '/v1/queue/consume', { queue: 'told' });
      expect(items).toHaveLength(1);
      return items[0];
    }, WAIT);
    expect(message.payload).toMatchObject({ type: 'alert.firing', rule, title: 'Deep <b>' });
    const mails = (await listMails(service.core.db, { limit: 100 })).filter(({ to }) => to === email);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatchObject({ subject: '[Firing] Deep <b>' });
    expect(mails[0]?.text).toContain('2 (above 1)');
    expect(mails[0]?.html).toContain('Deep &lt;b&gt;');
  });

  test('Slack gets its own form, in which labels and titles mention nobody', async () => {
    const own = await Own.begin();
    const title = '<!channel> & <https://evil.example|click>';
    const rule = await own.ruleTo({ title, labels: { team: '<@U1>' }, notify: [{ slack_url: own.url }] });
    await own.fill(2);
    await own.next(rule);
    const { body, headers } = await vi.waitFor(() => {
      const found = receiver.told.find(({ text }) => text.includes(rule) && text.includes('attachments'));
      expect(found).toBeDefined();
      return found as NonNullable<typeof found>;
    }, WAIT);
    expect(body.text).toBe('*Firing*: &lt;!channel&gt; &amp; &lt;https://evil.example|click&gt;');
    expect(body.attachments[0].text).toContain(`<${service.url}/console/alerts/${rule}|${rule}>`);
    expect(headers['webhook-signature']).toBeUndefined();
  });

  test('an address that left the account is mailed no more', async () => {
    const own = await Own.begin();
    const { accountId } = own.account;
    const email = `gone-${accountId.toLowerCase()}@example.org`;
    const nowMs = await own.nowMs();
    await service.core.db.transaction((tx) =>
      createPerson(tx, { accountId, email, name: null, role: 'viewer' }, nowMs),
    );
    const rule = await own.ruleTo({ notify: [{ email }] });
    await service.core.db.query({ name: 'test_leave', text: 'DELETE FROM core.member WHERE account_id = $1' }, [
      accountId,
    ]);
    await own.fill(2);
    await own.next(rule);
    expect((await own.history(rule))[0].words).toBe(
      `Not mailed to ${email}: it is no confirmed address of the account any more.`,
    );
    expect((await listMails(service.core.db, { limit: 100 })).filter(({ to }) => to === email)).toEqual([]);
  });
});
