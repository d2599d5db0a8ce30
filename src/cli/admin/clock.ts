import { Command } from 'commander';
import { advanceTestClock } from '../../core/process/test-clock.ts';
import { iso } from '../../lib/time.ts';
import { wholeNumber } from '../fields.ts';
import { CommandError, print } from '../output.ts';
import { withSession } from './session.ts';

const SECONDS_MAX = 10 * 366 * 86_400;

export function clockCommand(): Command {
  const clock = new Command('clock').description('The test clock.');
  clock
    .command('advance')
    .description('Move the clock of a service that runs with TEST_CLOCK=on ahead; it never goes back.')
    .requiredOption('--seconds <number>', 'how far, in whole seconds', wholeNumber(SECONDS_MAX))
    .option('--json', 'print one JSON object')
    .action(advance);
  return clock;
}

async function advance({ seconds, json = false }: { seconds: number; json?: boolean }): Promise<void> {
  const position = await withSession(({ db }) => advanceTestClock(db, seconds));
  if (position === null)
    throw new CommandError('the clock can only be moved while the service runs with TEST_CLOCK=on');
  const answer = { advanced_seconds: seconds, offset_seconds: position.offsetSeconds, now: iso(position.nowMs) };
  print({ json: answer, text: `it is now ${answer.now} (${answer.offset_seconds} s ahead)` }, json);
}
