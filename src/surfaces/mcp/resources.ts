// What a client may read beside calling tools: the documents for language models, as markdown, free.
import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server';
import type { Manifest } from '../../manifest/manifest.ts';
import { renderLlms, renderModule } from '../documents/llms.ts';

const mimeType = 'text/markdown';
const URI_CHARACTERS_MAX = 200;
const DOCUMENT = /^docs:\/\/(llms|module\/([a-z0-9_]+)|error\/([A-Z0-9_]+))$/;

export const resourceTemplates: readonly ResourceTemplateType[] = [
  { uriTemplate: 'docs://module/{name}', name: 'module', description: 'All capabilities of a module.', mimeType },
  { uriTemplate: 'docs://error/{code}', name: 'error', description: 'What an error means, and what to do.', mimeType },
];

export function resourcesOf({ modules }: Manifest): Resource[] {
  const ofModules = modules.filter(({ capabilities }) => capabilities.length > 0);
  return [
    { uri: 'docs://llms', name: 'llms', description: 'The whole service on one page.', mimeType },
    ...ofModules.map(({ name, summary }) => ({ uri: `docs://module/${name}`, name, description: summary, mimeType })),
  ];
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
    const module = manifest.modules.find((each) => each.name === name && each.capabilities.length > 0);
    return module === undefined ? null : renderModule(manifest, module, baseUrl);
  }
  if (code === undefined || !Object.hasOwn(manifest.problems, code)) return null;
  const { status, retryable, title, advice } = manifest.problems[code] as Manifest['problems'][string];
  return `# ${code}\n\nHTTP ${status}, ${retryable ? 'may be retried' : 'not to be retried as it is'}.\n\n${title}\n\n${advice}\n`;
}
