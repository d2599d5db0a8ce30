// Scripts and style of the console: the files of this folder, with the two published libraries in front of those that use them. Each file name
// contains a hash of its content, so browsers cache it for good and a change gets a new address.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Visit } from '../../../kit/console/visit.ts';
import type { RawAnswer, RawHead } from '../../../kit/raw-route.ts';
import { type Html, html } from '../../../lib/html.ts';
import { consoleStyle } from '../../pages/style.ts';
import { encodingFor, type Prepared, prepare } from '../../public/prepared.ts';

interface Asset {
  readonly fileName: string;
  readonly integrity: string;
  readonly contentType: string;
  readonly prepared: Prepared;
}

type Script = 'console' | 'plots' | 'playground' | 'challenge';

export interface Assets {
  style(visit: Visit): Html;
  /** `nonce`: what the policy of the page lets scripts run by. */
  script(visit: Visit, name: Script, nonce: string): Html;
  /** Null: there is no file of that name. */
  answer(fileName: string, head: Pick<RawHead, 'headers'>): Promise<RawAnswer> | null;
}

const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** Reads them all, once. */
export async function loadAssets(): Promise<Assets> {
  const [idiomorph, uPlot, uPlotStyle, style, console_, plots, playground, challenge] = await Promise.all([
    readLibraryFile('idiomorph/dist/idiomorph.min.js'),
    readLibraryFile('uplot/dist/uPlot.iife.min.js'),
    readLibraryFile('uplot/dist/uPlot.min.css'),
    own('console.css'),
    own('console.js'),
    own('plots.js'),
    own('playground.js'),
    own('challenge.js'),
  ]);
  const [css, consoleScript, plotsScript, playgroundScript, challengeScript] = [
    asset('console', 'css', 'text/css; charset=utf-8', `${consoleStyle}${style}${uPlotStyle}`),
    asset('console', 'js', JAVASCRIPT, `${idiomorph}\n${inModule(console_)}`),
    asset('plots', 'js', JAVASCRIPT, `${uPlot}\n${inModule(plots)}`),
    asset('playground', 'js', JAVASCRIPT, inModule(playground)),
    asset('challenge', 'js', JAVASCRIPT, inModule(challenge)),
  ] as const;
  const scripts: Readonly<Record<Script, Asset>> = {
    console: consoleScript,
    plots: plotsScript,
    playground: playgroundScript,
    challenge: challengeScript,
  };
  const byName = new Map([css, ...Object.values(scripts)].map((each) => [each.fileName, each]));
  const address = (visit: Visit, { fileName }: Asset) => visit.path(`/assets/${fileName}`);
  return {
    style: (visit) => html`<link rel="stylesheet" href="${address(visit, css)}" integrity="${css.integrity}">`,
    script(visit, name, nonce) {
      const { integrity } = scripts[name];
      return html`<script defer src="${address(visit, scripts[name])}" integrity="${integrity}" nonce="${nonce}"></script>`;
    },
    answer(fileName, { headers }) {
      const found = byName.get(fileName);
      return found === undefined ? null : answerOf(found, headers['accept-encoding']);
    },
  };
}

async function answerOf({ prepared, contentType }: Asset, accepted: string | undefined): Promise<RawAnswer> {
  const encoding = encodingFor(accepted);
  return {
    status: 200,
    headers: {
      'content-type': contentType,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    },
    body: await prepared.encodedBody(encoding),
  };
}

function asset(name: string, ending: string, contentType: string, text: string): Asset {
  const hash = createHash('sha384').update(text).digest();
  return {
    fileName: `${name}.${hash.toString('hex', 0, 8)}.${ending}`,
    integrity: `sha384-${hash.toString('base64')}`,
    contentType,
    prepared: prepare(text),
  };
}

/** Its names are its own. */
function inModule(script: string): string {
  return `(()=>{${script}\n})();\n`;
}

function own(name: string): Promise<string> {
  return readFile(new URL(name, import.meta.url), 'utf8');
}

/** A file of a library, as it was published. */
function readLibraryFile(path: string): Promise<string> {
  return readFile(createRequire(import.meta.url).resolve(path), 'utf8');
}
