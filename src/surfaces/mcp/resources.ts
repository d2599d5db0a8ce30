// MCP resources: the documents for language models, as markdown, free of charge.
import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server';
import type { Manifest } from '../../manifest/manifest.ts';
import { partsOf, shownModules } from '../../manifest/parts.ts';
import { docsPages } from '../documents/docs/docs.ts';
import { renderMarkdown } from '../documents/docs/markdown-page.ts';
import { renderLlms } from '../documents/llms/llms.ts';
import { renderModule } from '../documents/llms/module.ts';

const mimeType = 'text/markdown';
const URI_CHARACTERS_MAX = 200;
const DOCUMENT = /^docs:\/\/(llms|module\/([a-z0-9_.]+)|error\/([A-Z0-9_]+))$/;

export const resourceTemplates: readonly ResourceTemplateType[] = [
  { uriTemplate: 'docs://module/{name}', name: 'module', description: 'All capabilities of a module.', mimeType },
  { uriTemplate: 'docs://error/{code}', name: 'error', description: 'What an error means, and what to do.', mimeType },
];

export function resourcesOf(manifest: Manifest): Resource[] {
  return [
    { uri: 'docs://llms', name: 'llms', description: 'The whole service on one page.', mimeType },
    ...documents(manifest).map(({ name, summary }) => ({
      uri: `docs://module/${name}`,
      name,
      description: summary,
      mimeType,
    })),
  ];
}

function documents(manifest: Manifest) {
  return shownModules(manifest).flatMap(partsOf);
}

/** Null: there is no such document. */
export function readResource(manifest: Manifest, baseUrl: string, uri: string): ReadResourceResult | null {
  const text = uri.length > URI_CHARACTERS_MAX ? null : documentAt(manifest, baseUrl, uri);
  return text === null ? null : { contents: [{ uri, mimeType, text }] };
}

function documentAt(manifest: Manifest, baseUrl: string, uri: string): string | null {
  const [, whole, name, code] = DOCUMENT.exec(uri) ?? [];
  if (whole === 'llms') return renderLlms(manifest, { baseUrl });
  if (name !== undefined) {
    const module = documents(manifest).find((each) => each.name === name);
    return module === undefined ? null : renderModule(manifest, module, baseUrl);
  }
  const page = docsPages(manifest, { baseUrl }).get(`/docs/errors/${code}`);
  return page === undefined ? null : renderMarkdown(page(), baseUrl);
}
