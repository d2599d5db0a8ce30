import { Command } from 'commander';
import { clockNow } from '../../core/database-clock.ts';
import { createOperatorLink, LINK_LIVES_MS, operatorLinkUrl } from '../../core/operator/link.ts';
import { iso } from '../../lib/time.ts';
import { CommandError, print } from '../output.ts';
import { withSession } from './session.ts';

export function consoleCommand(): Command {
  return new Command('console')
    .description('Print a link that signs a browser in as the operator: once, within ten minutes. Hand it to nobody.')
    .option('--json', 'print one JSON object')
    .action(openConsole);
}

async function openConsole({ json = false }: { json?: boolean }): Promise<void> {
  const answer = await withSession(async ({ db, config }) => {
    const { token, nowMs } = await db.transaction(async (tx) => {
      const now = await clockNow(tx);
      return { token: await createOperatorLink(tx, now), nowMs: now };
    });
    if (token === null) throw new CommandError('no service has started on this database yet: start it first');
    return { url: operatorLinkUrl(config.baseUrl, token), expires_at: iso(nowMs + LINK_LIVES_MS) };
  });
  print({ json: answer, text: answer.url }, json);
}
