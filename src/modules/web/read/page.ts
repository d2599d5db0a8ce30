// Converts the bytes of a page to content: detects the kind, then runs its reader.
import { charactersOf, kindOf } from './bytes.ts';
import { cutContent } from './cut.ts';
import type { ReadPage, ReadTask } from './wire.ts';

export async function readPage(task: ReadTask): Promise<ReadPage> {
  const page = await contentOf(task);
  const { content, truncated } = cutContent(page.content, task.bytesMax);
  return { kind: 'read', ...page, content, truncated: truncated || page.truncated };
}

type Whole = Omit<ReadPage, 'kind'>;

async function contentOf(task: ReadTask): Promise<Whole> {
  const kind = kindOf(task.contentType, task.bytes);
  if (kind === 'pdf') return (await import('./pdf.ts')).readPdf(task);
  const characters = charactersOf(task.contentType, task.bytes);
  if (kind === 'html') return (await import('./document/html.ts')).readHtml(characters, task);
  return {
    title: null,
    byline: null,
    language: null,
    description: null,
    content: characters,
    links: [],
    truncated: false,
    isShell: false,
  };
}
