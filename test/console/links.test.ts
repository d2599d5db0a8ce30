// Links of the console's events and search, and those written into pages, lead to a page. Without a service: a page is found by its pattern.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { ConsolePage } from '../../src/kit/console/page.ts';
import { modules } from '../../src/modules/index.ts';
import { pageAt } from '../../src/surfaces/console/address.ts';
import { PROJECT } from '../support/process.ts';

/** Addresses of the surface itself, and a page that each module of blocks has. */
const OTHERS = /^\/(?:find|try\/x|live|view|assets\/x|x)$/;
let pages: readonly ConsolePage[];

beforeAll(async () => {
  const consoles = await Promise.all(modules.map((module) => module.console?.()));
  pages = consoles.flatMap((each) => each?.pages ?? []);
});

const pathOfPage = (path: string) => pageAt(pages, path)?.page.path ?? null;

const eventPaths = modules.flatMap(({ events = [] }) =>
  events.flatMap(({ type, words, example }) => {
    const path = words?.path?.((example.object ?? {}) as Record<string, unknown>, example);
    return path === undefined ? [] : [[type, path] as const];
  }),
);

test.each(eventPaths)('an event %s links to a page: %s', (_, path) => {
  expect(path).not.toContain('undefined');
  expect(pathOfPage(path)).not.toBeNull();
});

/** Those that pages make, and those of their descriptions. Values of templates are `x`; one that follows a word is a query. */
function writtenLinks(): [file: string, path: string][] {
  const files = globSync('src/{modules,surfaces,kit}/**/*.ts', { cwd: PROJECT, exclude: ['**/*.test.ts'] });
  return files.flatMap((file) => {
    const text = readFileSync(join(PROJECT, file), 'utf8');
    const called = text.matchAll(/visit\.path\((?:'(\/[^'?#]*)[^']*'|`(\/[^`]*)`)\)|baseUrl\}\/console(\/[^`?#]*)/g);
    const described = text.matchAll(/(?:list|back): \{ (?:title|label): [^{}]*, path: (?:'(\/[^']*)'|`(\/[^`]*)`) \}/g);
    return [...called, ...described].map(([, plain, template, url]) => {
      const written = (plain ?? template ?? url ?? '').replaceAll(/(\w?)\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '$1${}');
      const path = written
        .replace(/(\w)\$\{\}$/, '$1')
        .replaceAll('${}', 'x')
        .replace(/[?#].*$/, '');
      return [file, path];
    });
  });
}

test('links that are written into pages lead to pages', () => {
  const links = writtenLinks();
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter(([, path]) => pathOfPage(path) === null && !OTHERS.test(path))).toEqual([]);
});
