// Full HTML documents for the browser, from any source type; sources without styles get ours.
import { marked } from 'marked';
import type { CreateTask, MarginLine } from './wire.ts';

const STYLE = `body{font:11pt/1.5 system-ui,sans-serif;color:#111827}table{border-collapse:collapse;width:100%}
td,th{border:.5pt solid #c8ccd4;padding:3pt 5pt;text-align:left}th{background:#f0f2f5}thead{display:table-header-group}
pre{font:9pt/1.4 monospace;background:#f5f6f8;padding:6pt;white-space:pre-wrap}blockquote{color:#4b5563;margin-left:14pt}img{max-width:100%}`;

export function printHtml({ type, content, title }: Pick<CreateTask, 'type' | 'content' | 'title'>): string {
  if (type === 'html') return content;
  const body =
    type === 'markdown'
      ? marked.parse(content, { async: false, gfm: true })
      : `<pre style="font:inherit;background:none;padding:0">${escapeHtml(content)}</pre>`;
  return `<!doctype html><html><head><meta charset="utf-8"><title>${escapeHtml(title ?? '')}</title><style>${STYLE}</style></head><body>${body}</body></html>`;
}

/** The line above or below pages; the browser puts in the numbers. */
export function marginLine(line: MarginLine | null): string {
  if (line === null) return '<span></span>';
  if ('html' in line) return line.html;
  const numbered = escapeHtml(line.text)
    .replaceAll('{pages}', '<span class="totalPages"></span>')
    .replaceAll('{page}', '<span class="pageNumber"></span>');
  return `<div style="width:100%;text-align:center;font:8pt sans-serif;color:#6b7280">${numbered}</div>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
