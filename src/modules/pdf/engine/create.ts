// A PDF of HTML, Markdown or text. `auto` takes the document engine, unless there is a browser and the document would ignore how the page is styled.
import { createDocument } from './document/document.ts';
import { Refused } from './refused.ts';
import type { Ask, CreateTask, EngineAnswer } from './wire.ts';

export async function create(task: CreateTask, ask: Ask): Promise<EngineAnswer> {
  if (task.engine === 'browser') return inBrowser(task, ask);
  const made = await createDocument(task, ask);
  if (task.engine === 'auto' && task.chromiumPath !== null && made.ignored.length > 0) return inBrowser(task, ask);
  const told = made.ignored.length === 0 ? [] : [ignoredWarning(made.ignored)];
  return { kind: 'made', files: [made.pdf], engine: 'document', warnings: [...made.warnings, ...told] };
}

async function inBrowser(task: CreateTask, ask: Ask): Promise<EngineAnswer> {
  if (task.chromiumPath === null)
    throw new Refused('engine', 'no_browser', 'This service has no browser: its operator sets CHROMIUM_PATH.');
  const { createInBrowser } = await import('./browser.ts');
  return createInBrowser(task, task.chromiumPath, ask);
}

const NAMED_MAX = 15;

function ignoredWarning(ignored: readonly string[]): string {
  const named = ignored.slice(0, NAMED_MAX).join(', ');
  const more = ignored.length > NAMED_MAX ? ` and ${ignored.length - NAMED_MAX} more` : '';
  return `The document engine ignored: ${named}${more}. The browser engine has full CSS.`;
}
