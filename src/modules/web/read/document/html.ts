// Reads an HTML page: its main content and metadata.

import type { ReadPage, ReadTask } from '../wire.ts';
import { childrenOf } from './chrome.ts';
import { limitText } from './limit.ts';
import { mainOf } from './main.ts';
import { markdownOf } from './markdown.ts';
import { measuresOf } from './measure.ts';
import { metadataOf } from './metadata.ts';
import { parse } from './parse.ts';
import { isShell, shellFigures } from './shell.ts';
import { textOf } from './text.ts';
import { tidyDocument } from './tidy.ts';
import type { Element } from './tree.ts';
import { htmlOf } from './write.ts';

/** A page with less text beside its `<noscript>` is one that a script fills. */
const SHELL_TEXT_MAX = 200;
const WRITERS = { markdown: markdownOf, text: textOf, html: htmlOf };

export function readHtml(html: string, task: ReadTask): Omit<ReadPage, 'kind'> {
  const page = parse(html, task.url);
  const isDrawnByScripts = isShell(shellFigures(page));
  // Scripts ran: what stands there for readers without them is not on the page.
  if (task.isDrawn) for (const element of page.body.querySelectorAll('noscript')) element.remove();
  else settleNoscript(page.body);
  const metadata = metadataOf(page);
  const main = task.mainContent ? mainOf(page) : page.body;
  const truncated = limitText(main, task.bytesMax);
  const content = WRITERS[task.format](tidyDocument(main, page.document));
  return { ...metadata, content, truncated, links: task.links ? page.links : [], isShell: isDrawnByScripts };
}

/** What stands for readers without scripts is the content of a page that has no other. */
function settleNoscript(body: Element): void {
  const all = [...body.querySelectorAll('noscript')];
  if (all.length === 0) return;
  const measures = measuresOf(body);
  const sizeOf = (element: Element) => measures.get(element)?.text ?? 0;
  const beside = sizeOf(body) - all.reduce((sum, element) => sum + sizeOf(element), 0);
  if (beside > SHELL_TEXT_MAX) for (const element of all) element.remove();
  else if (sizeOf(body) > 2 * beside) body.append(...detachAll(body, all));
}

function detachAll(body: Element, all: readonly Element[]): readonly Element[] {
  for (const child of childrenOf(body)) child.remove();
  return all;
}
