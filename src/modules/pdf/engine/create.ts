// Creates a PDF from HTML, Markdown or text. `auto` takes the document engine, unless a browser is available and the document engine would
// ignore some of the page's styles.

import { assetsFirst, withMarkdown } from './assets.ts';
import { createDocument } from './document/document.ts';
import { Refused } from './refused.ts';
import type { Ask, CreateTask, EngineAnswer } from './wire.ts';

export async function create(sent: CreateTask, askOutside: Ask): Promise<EngineAnswer> {
  const task = withMarkdown(sent);
  const ask = assetsFirst(task.assets, askOutside);
  const made = await byEngine(task, ask);
  return task.onlyPages === null ? made : onlyPages(made, task.onlyPages, task.pagesMax);
}

async function onlyPages(made: Made, ranges: string, pagesMax: number): Promise<EngineAnswer> {
  const [whole] = made.files;
  if (whole === undefined) return made;
  const { split } = await import('./files/split.ts');
  const cut = await split({ kind: 'split', source: whole.bytes, ranges, cut: 'unified', pagesMax });
  return cut.kind === 'made' ? { ...made, files: cut.files } : cut;
}

async function byEngine(task: CreateTask, ask: Ask): Promise<Made> {
  if (task.engine === 'browser') return inBrowser(task, ask);
  const made = await createDocument(task, ask);
  if (task.engine === 'auto' && task.chromiumPath !== null && made.ignored.length > 0) return inBrowser(task, ask);
  const told = made.ignored.length === 0 ? [] : [ignoredWarning(made.ignored)];
  return { kind: 'made', files: [made.pdf], engine: 'document', warnings: [...made.warnings, ...told] };
}

async function inBrowser(task: CreateTask, ask: Ask): Promise<Made> {
  if (task.chromiumPath === null)
    throw new Refused('engine', 'no_browser', 'This service has no browser: its operator sets CHROMIUM_PATH.');
  const { createInBrowser } = await import('./browser.ts');
  return createInBrowser(task, task.chromiumPath, ask);
}

type Made = Extract<EngineAnswer, { kind: 'made' }>;

const NAMED_MAX = 15;

function ignoredWarning(ignored: readonly string[]): string {
  const named = ignored.slice(0, NAMED_MAX).join(', ');
  const more = ignored.length > NAMED_MAX ? ` and ${ignored.length - NAMED_MAX} more` : '';
  return `The document engine ignored: ${named}${more}. The browser engine has full CSS.`;
}
