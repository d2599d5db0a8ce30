// The first call of each guide, as it stands there, in three languages, by curl and by the clients: every block does its work on an account
// of its own.
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROJECT } from '../support/process.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { exampleSite, SITE_NETWORK, type Site } from '../support/site.ts';

/** What each program prints, among other things. */
const guides: readonly (readonly [guide: string, printed: RegExp])[] = [
  ['queues', /resize/],
  ['schedules', /T0[78]:30:00/],
  ['vectors', /boat/],
  ['errors', /card_declined/],
  ['logs', /Payment provider timed out/],
  ['metrics', /\b12\b/],
  ['analytics', /"total":1\b|^1$/m],
  ['webhooks', /whsec_/],
  ['webhooks-in', /passed/],
  ['keys', /queue\.publish/],
  ['vault', /A key is shown once/],
  ['approvals', /\/console\/approvals\/apr_/],
  ['money', /USD|"balance_usd"/],
  ['deleting-data', /distinct_ids/],
  ['flags', /TARGETING_MATCH/],
  ['ai', /\[sandbox\] You said: Say hello\./],
  ['video', /succeeded/],
  ['storage', /November/],
  ['image', /image\/webp/],
  ['pdf', /Invoice 7/],
  ['web', /A key is shown once/],
  ['email', /Invoice 7/],
  ['rtc', /presence-rtc-stand-up/],
  ['captcha', /"success": ?false|success: true|'success': True/],
  ['dns', /www\.shop-\w+\.test/],
  ['sign-in', /[A-Z]{4}-[A-Z]{4}/],
  ['requests', /404.*QUEUE_NOT_FOUND|QUEUE_NOT_FOUND.*404/],
  ['risk', /disposable|Ask for a code|allow|review/],
  ['realtime', /rtm_|message_id|"ok":true/],
  ['sms', /Try again|pending/],
];
/** Guides of other clients, with a call by curl alone. */
const curlAlone: typeof guides = [['anthropic', /\[sandbox\] You said: Say hello\..*"stop_reason":"end_turn"/]];
const languages = ['bash', 'ts', 'python'] as const;
/** What the clients log of answers: in a test nothing leaves the service, and an account has no owner who signs in. */
const WARNINGS = /^(?:quartermaster: )?[a-z_.]+: (?:Nothing |No |approvers: the account has no owner ).*\n/gm;
/** Guides that show one call which is not done: of the request log one that fails, of approvals one that waits. */
const SHOW_A_REFUSAL = ['requests', 'approvals'];

let service: TestService;
/** In place of the public page that a guide names. */
let site: Site;
let folder: string;
beforeAll(async () => {
  service = await startTestService({ env: { ALLOW_PRIVATE_TARGETS: SITE_NETWORK } });
  site = await exampleSite();
  folder = mkdtempSync(join(tmpdir(), 'qm-guides-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(PROJECT, 'clients/typescript'), join(folder, 'node_modules/quartermaster-client'));
});
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function blockOf(guide: string, language: string): string {
  const text = readFileSync(join(PROJECT, `docs/${guide}.md`), 'utf8');
  const [, rest = ''] = text.split(/\n## (?:First call|What you have|What to delete)\n/);
  const [section = ''] = rest.split('\n## ', 1);
  const found = [...section.matchAll(/```(\w+)\n([\s\S]*?)```/g)].filter(([, name]) => name === language);
  expect(found.length, `${guide} has one block of ${language}`).toBe(1);
  return (found[0]?.[2] ?? '')
    .replaceAll('https://example.com/', `${site.url}/`)
    .replaceAll('api.example.com', new URL(site.url).host);
}

function commandOf(language: (typeof languages)[number], guide: string): [string, string[]] {
  const text = blockOf(guide, language);
  if (language === 'bash') return ['bash', ['--norc', '-euo', 'pipefail', '-c', text]];
  if (language === 'python') return ['python3', ['-c', text]];
  const file = join(folder, `${guide}.mts`);
  writeFileSync(file, text);
  return [process.execPath, ['--no-warnings', file]];
}

const programOf = { bash: 'curl', ts: process.execPath, python: 'python3' } as const;

describe.concurrent.each(languages)('in %s', (language) => {
  test.each(language === 'bash' ? [...guides, ...curlAlone] : guides)(
    '%s: the first call does its work',
    async (guide, printed) => {
      if (spawnSync(programOf[language], ['--version']).status !== 0)
        return expect.fail(`${programOf[language]} is not on this machine, so the blocks of ${language} were not run`);
      const { secret } = await createTestAccount(service.core, 5);
      const [program, args] = commandOf(language, guide);
      const env = {
        PATH: process.env.PATH,
        HOME: folder,
        QM_URL: service.url,
        QM_KEY: secret,
        PYTHONPATH: join(PROJECT, 'clients/python'),
      };
      const { stdout, stderr } = await promisify(execFile)(program, args, { env, timeout: 60_000 });
      expect(stderr.replaceAll(WARNINGS, '')).toBe('');
      expect(stdout).toMatch(printed);
      expect(stdout.match(/"ok":false/g)?.length ?? 0).toBeLessThanOrEqual(SHOW_A_REFUSAL.includes(guide) ? 1 : 0);
    },
  );
});
