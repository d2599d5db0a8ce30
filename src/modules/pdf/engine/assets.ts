// Assets: files sent with the content and referenced in it by bare names. They are looked up before any request leaves the service.
import { marked } from 'marked';
import type { Ask, Asset, CreateTask } from './wire.ts';

/** Where relative names lead in a browser; nothing of it exists. */
const NOWHERE = 'http://assets.invalid/';
const NAME = /^(?:\.\/)?([^/?#:\\]{1,255})$/;
const TO_HTML = /\{\{\s*toHTML\s+"([^"]{1,255})"\s*\}\}/g;
const types: Readonly<Record<string, string>> = {
  css: 'text/css',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  html: 'text/html; charset=utf-8',
  ttf: 'font/ttf',
  otf: 'font/otf',
  woff: 'font/woff',
  woff2: 'font/woff2',
};

export const isAssetName = (src: string): boolean => NAME.test(src);

export function assetsFirst(assets: readonly Asset[], ask: Ask): Ask {
  return async (question) => {
    const { url } = question;
    const name = url.startsWith(NOWHERE) ? decodePath(url.slice(NOWHERE.length)) : NAME.exec(url)?.[1];
    if (name === undefined) return ask(question);
    const asset = assets.find((each) => each.name === name);
    const contentType = types[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? null;
    if (asset !== undefined) return { bytes: asset.bytes, contentType, status: 200, message: '' };
    return { bytes: null, contentType: null, status: 0, message: 'no file of this name came with the content' };
  };
}

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A template's `{{ toHTML "file.md" }}` becomes the HTML of the file that came with it. */
export function withMarkdown(task: CreateTask): CreateTask {
  if (task.assets.length === 0 || task.type !== 'html') return task;
  const html = (name: string) => {
    const asset = task.assets.find((each) => each.name === name);
    return asset === undefined
      ? ''
      : marked.parse(Buffer.from(asset.bytes).toString('utf8'), { async: false, gfm: true });
  };
  return { ...task, content: task.content.replaceAll(TO_HTML, (_, name: string) => html(name)) };
}

/** Relative names lead to the assets. */
export function withBase(html: string): string {
  const base = `<base href="${NOWHERE}">`;
  const head = /<head(?:\s[^>]*)?>/i.exec(html.slice(0, 100_000));
  if (head === null) return base + html;
  const at = head.index + head[0].length;
  return html.slice(0, at) + base + html.slice(at);
}
