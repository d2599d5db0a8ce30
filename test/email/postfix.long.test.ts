// A real relay, Debian's postfix: what it takes, what it bounces later by a report of its own, and what it hands on. Needs postfix and root; elsewhere it
// is passed over and says so.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SigningKeys } from '../../src/modules/email/domains/signing-key.ts';
import { freePort } from '../support/process.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { EmailBench } from './harness.ts';

const POSTFIX = '/usr/sbin/postfix';
const isHere = existsSync(POSTFIX) && process.getuid?.() === 0;
if (!isHere) console.warn('postfix is not installed, or this is not root: the tests with a real relay are passed over');
const BOUNCES = 'bounces.sender.example.org';
const SERVICES = [
  ...[
    'pickup unix n - n 60 1 pickup',
    'cleanup unix n - n - 0 cleanup',
    'qmgr unix n - n 300 1 qmgr',
    'rewrite unix - - n - - trivial-rewrite',
  ],
  ...[
    'bounce unix - - n - 0 bounce',
    'defer unix - - n - 0 bounce',
    'trace unix - - n - 0 bounce',
    'smtp unix - - n - - smtp',
  ],
  ...[
    'error unix - - n - - error',
    'retry unix - - n - - error',
    'anvil unix - - n - 1 anvil',
    'proxymap unix - - n - - proxymap',
  ],
  ...['postlog unix-dgram n - n - 1 postlogd', 'flush unix n - n 1000? 0 flush', 'scache unix - - n - 1 scache'],
];

let folder: string;
/** The world behind the relay. */
let world: TestRelay;
let bench: EmailBench;
const postfix = (command: string) => spawnSync(POSTFIX, ['-c', folder, command], { encoding: 'utf8' });

beforeAll(async () => {
  if (!isHere) return;
  folder = await mkdtemp(join(tmpdir(), 'qm-postfix-'));
  await chmod(folder, 0o755);
  world = await startRelay();
  const [port, smtpPort] = [await freePort(), await freePort()];
  for (const name of ['spool', 'data']) await mkdir(join(folder, name));
  execFileSync('chown', ['postfix', join(folder, 'data')]);
  const settings = {
    compatibility_level: '3.6',
    myhostname: 'relay.test',
    mydestination: '',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    mail_owner: 'postfix',
    setgid_group: 'postdrop',
    queue_directory: join(folder, 'spool'),
    data_directory: join(folder, 'data'),
    mynetworks: '127.0.0.0/8',
    relayhost: `[127.0.0.1]:${world.port}`,
    disable_dns_lookups: 'yes',
    smtp_tls_security_level: 'none',
    transport_maps: `inline:{ { ${BOUNCES} = smtp:[127.0.0.1]:${smtpPort} } }`,
    maillog_file: join(folder, 'log'),
    maillog_file_prefixes: folder,
    alias_maps: '',
    local_recipient_maps: '',
  };
  await writeFile(
    join(folder, 'main.cf'),
    Object.entries(settings)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join(''),
  );
  await writeFile(join(folder, 'master.cf'), `127.0.0.1:${port} inet n - n - - smtpd\n${SERVICES.join('\n')}\n`);
  await writeFile(join(folder, 'dynamicmaps.cf'), '');
  const started = postfix('start');
  expect(started.status, started.stderr + started.stdout).toBe(0);
  const env = { SMTP_URL: `smtp://127.0.0.1:${port}`, SMTP_PORT: String(smtpPort), EMAIL_BOUNCE_DOMAIN: BOUNCES };
  bench = await EmailBench.start({ relay: false, env });
});
afterAll(async () => {
  if (!isHere) return;
  await bench?.stop();
  postfix('stop');
  await world.stop();
  await rm(folder, { recursive: true, force: true });
});

test.runIf(isHere)('what it takes arrives as it was signed', async () => {
  const email = await bench.sent({
    to: ['ada@example.net', 'bob@example.net'],
    html: `<p>${'Hello. '.repeat(300)}</p>`,
    text: '.\n..\nHello.',
  });
  expect(email.status).toBe('sent');
  expect(email.recipients[0].detail).toMatch(/queued as/);
  await expect.poll(() => world.mails.length).toBeGreaterThan(0);
  const { publicKey } = await new SigningKeys(bench.service.core).of(bench.account.accountId);
  for (const { source } of world.mails) {
    const { results } = await dkimVerify(source, { resolver: async () => [[`v=DKIM1; k=rsa; p=${publicKey}`]] });
    expect(results.map(({ status }) => status.result)).toEqual(['pass']);
  }
});

test.runIf(isHere)(
  'what it cannot hand on comes back as a bounce of the recipient, and suppresses the address',
  async () => {
    world.refused.set('gone@example.net', { code: 550, text: '5.1.1 No such user' });
    const email = await bench.sent({ to: ['ada@example.net', 'gone@example.net'] });
    expect(email.status).toBe('sent');
    const bounced = async () => (await bench.get(email.email_id)).recipients[1];
    await expect.poll(async () => (await bounced()).status).toBe('bounced');
    expect(await bounced()).toMatchObject({ code: '5.1.1', detail: expect.stringContaining('No such user') });
    expect((await bench.get(email.email_id)).recipients[0].status).toBe('sent');
    expect((await bench.send({ to: 'gone@example.net' })).body.error.code).toBe('RECIPIENT_SUPPRESSED');
    expect((await bench.events()).map(({ type }) => type)).toContain('email.bounced');
    await bench.expectBooksAgree();
  },
);
