// Style and scripts of the documentation: files of this folder, and the search library as published. Their URLs contain a content
// hash, so a page never loads one of another release.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { once } from '../../../../lib/once.ts';
import { consoleStyle } from '../../../pages/style.ts';

interface Asset {
  readonly text: string;
  readonly version: string;
}

export type AssetName = 'style.css' | 'docs.js' | 'search.js' | 'find.js' | 'try.js';

export const assetNames: readonly AssetName[] = ['style.css', 'docs.js', 'search.js', 'find.js', 'try.js'];

const contentTypes = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' } as const;

const texts: Readonly<Record<AssetName, () => string>> = {
  'style.css': () => `${consoleStyle}${own('docs.css')}`,
  'docs.js': () => own('docs.js'),
  // Modules of their own: they are loaded when somebody first searches, or tries a call.
  'search.js': () => readLibrary('minisearch'),
  'find.js': () => own('find.js'),
  'try.js': () => own('try.js'),
};

const assets: Readonly<Record<AssetName, () => Asset>> = {
  'style.css': once(() => assetOf('style.css')),
  'docs.js': once(() => assetOf('docs.js')),
  'search.js': once(() => assetOf('search.js')),
  'find.js': once(() => assetOf('find.js')),
  'try.js': once(() => assetOf('try.js')),
};

export function contentTypeOf(name: AssetName): string {
  return contentTypes[name.endsWith('.css') ? 'css' : 'js'];
}

export function textOf(name: AssetName): string {
  return assets[name]().text;
}

/** From the root of the service. */
export function addressOf(name: AssetName): string {
  return `/docs/${name}?v=${assets[name]().version}`;
}

function assetOf(name: AssetName): Asset {
  const text = texts[name]();
  return { text, version: createHash('sha256').update(text).digest('hex').slice(0, 12) };
}

/** A library as one module. */
function readLibrary(name: string): string {
  return readFileSync(new URL(import.meta.resolve(name)), 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
}

function own(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}
