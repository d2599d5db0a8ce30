import { Command } from 'commander';
import { listMails } from '../../people/mail/mail.ts';
import { wholeNumber } from '../fields.ts';
import { print } from '../output.ts';
import { withSession } from './session.ts';

const LIMIT = 100;
const LIMIT_MAX = 1_000;

export function outboxCommand(): Command {
  return new Command('outbox')
    .description(
      'Show mail that is not sent: all of the last day where no mail server is set. Links and codes in it sign people in.',
    )
    .option('--limit <number>', `the newest so many (default: ${LIMIT})`, wholeNumber(LIMIT_MAX))
    .option('--json', 'print one JSON object')
    .action(show);
}

async function show({ limit = LIMIT, json = false }: { limit?: number; json?: boolean }): Promise<void> {
  const items = await withSession(({ db }) => listMails(db, { limit }));
  const texts = items.map(
    ({ to, subject, text, created_at }) => `${created_at}  ${to}  ${subject}\n\n${text.trim()}\n`,
  );
  print({ json: { items }, text: texts.length === 0 ? 'no mail waits' : texts.join('\n') }, json);
}
