// The thread that creates and reads PDFs: its libraries are loaded nowhere else. Hostile input can at worst end this thread, which has limits of
// memory and time.
import { getPriority, setPriority } from 'node:os';
import { serve } from '../../../lib/threads.ts';
import { Refused } from './refused.ts';
import type { Ask, EngineAnswer, EngineQuestion, EngineReply, EngineTask } from './wire.ts';

/** Calls go first: on Linux this concerns the thread alone. */
const NICENESS = 10;
if (process.platform === 'linux' && getPriority() < NICENESS) setPriority(NICENESS);

// Libraries tell on the console what they think of a document; that is nobody's log.
for (const word of ['log', 'info', 'warn', 'error'] as const) console[word] = () => undefined;

serve<EngineTask, EngineAnswer, never, EngineQuestion, EngineReply>(
  async (task, { ask }) => {
    try {
      return await workOn(task, ask);
    } catch (error) {
      if (error instanceof Refused) return error.refusal;
      return refusalOf(task, error as Error);
    }
  },
  (answer) => (answer.kind === 'made' ? answer.files.map(({ bytes }) => bytes.buffer) : []),
);

async function workOn(task: EngineTask, ask: Ask): Promise<EngineAnswer> {
  switch (task.kind) {
    case 'create':
      return (await import('./create.ts')).create(task, ask);
    case 'merge':
      return (await import('./files/merge.ts')).merge(task);
    case 'split':
      return (await import('./files/split.ts')).split(task);
    case 'fill':
      return (await import('./files/fill.ts')).fill(task);
    case 'info':
      return (await import('./files/info.ts')).info(task);
    case 'text':
      return (await import('./files/text.ts')).text(task);
  }
}

/** Libraries throw anything at what they were not made for. */
function refusalOf(task: EngineTask, error: Error): EngineAnswer {
  const field = task.kind === 'create' ? 'content' : task.kind === 'merge' ? 'sources' : 'source';
  if (error instanceof RangeError)
    return new Refused(field, 'too_complex', 'It is nested too deep, or refers to itself.').refusal;
  const message = task.kind === 'create' ? 'It could not be laid out' : 'It is damaged';
  return new Refused(field, task.kind === 'create' ? 'not_laid_out' : 'not_a_pdf', `${message}: ${short(error)}`)
    .refusal;
}

function short({ message }: Error): string {
  const line = String(message).replaceAll(/\s+/g, ' ');
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
