// A page that a module has for persons at a browser: what one of its capabilities answers, as HTML. The module says only this; signing
// in, sessions, forms, the frame around it and what a browser may do with it are the surface's (src/surfaces/pages). So a page shows
// nothing that the API would not tell the same principal.
import type { Html } from '../lib/html.ts';
import { type Capability, pathParameters } from './capability.ts';

export interface PageContent {
  readonly title: string;
  /** What stands below the header of every page. */
  readonly content: Html;
}

export interface Page {
  /** In metrics and the log: `<module>.<page>`. */
  readonly name: string;
  /** Below /console, with `{name}` parameters: the input of the capability. */
  readonly path: string;
  /** Fields of the capability's input that the address of the page may have as its query. */
  readonly query?: readonly string[];
  /** Id of the module's capability that a visit calls: a read, free of charge. */
  readonly capability: string;
  /** What it shows, in words that follow "this" and "no such". */
  readonly subject: string;
  /** The page of what the capability answered, at `nowMs`. All texts in it are escaped, as everything that `html` takes. */
  show(data: unknown, nowMs: number): PageContent;
}

/** What is wrong with a page of the module `name`: it shows what a free read of its own answers, to the input that its path has. */
export function pageFaults(page: Page, name: string, capabilities: readonly Capability[]): string[] {
  const shown = capabilities.find(({ id }) => id === page.capability);
  if (shown === undefined || shown.method !== 'GET' || shown.price !== 'free')
    return [`the page ${page.name} shows ${page.capability}, which is no free read of the module ${name}`];
  const isBelowConsole = `${page.path}/`.startsWith(`/console/${name}/`);
  const asked = pathParameters(shown.path).filter((field) => !pathParameters(page.path).includes(field));
  const unknown = (page.query ?? []).filter((field) => !Object.hasOwn(shown.input.properties, field));
  return [
    ...(isBelowConsole ? [] : [`the path ${page.path} of the page ${page.name} is not below /console/${name}`]),
    ...unknown.map((field) => `the page ${page.name} takes ${field}, which is no field of ${page.capability}`),
    ...asked.map((field) => `the path ${page.path} of the page ${page.name} has no ${field}`),
  ];
}
