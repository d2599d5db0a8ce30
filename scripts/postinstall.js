// The end of `npm ci`, and of an installation of the npm package: removes from packages what no program here loads (220 of 520 MB), then
// makes the bundle (bundle.ts). The npm package leaves other packages as they are: they may be somebody else's too.
import { existsSync, globSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** In node_modules. Types stay: `npm run check` reads them. */
const UNUSED = [
  '**/*.{js,mjs,cjs,ts,mts,cts}.map',
  'node/node_modules/node-*/{include,share}',
  '@fontsource/*/files/*{-[1-689]00-normal.*,-italic.*,.woff2}',
  '@fontsource/*/*.css',
  '@cantoo/pdf-lib/{src,ts3.4,dist/*.js}',
  '@mixmark-io/domino/test',
  'gpt-tokenizer/esm/bpeRanks/**/*.js',
  'gpt-tokenizer/{src,data}',
  'gpt-tokenizer/cjs/bpeRanks/[!o]*.js',
  'libphonenumber-js/bundle',
  'mediabunny/{src,dist/bundles}',
  'pdfmake/build',
  'playwright-core/lib/vite',
  'stripe/cjs/**/*.js',
  'zod/src',
];

const ROOT = join(import.meta.dirname, '..');
const sources = existsSync(join(ROOT, 'src/serve.ts'));
if (sources)
  for (const path of globSync(UNUSED, { cwd: join(ROOT, 'node_modules') }))
    rmSync(join(ROOT, 'node_modules', path), { recursive: true, force: true });
const bundle = sources ? './bundle.ts' : '../dist/scripts/bundle.js';
if (existsSync(new URL(bundle, import.meta.url)))
  await import(bundle).catch(({ message }) =>
    console.warn(`The service starts from single files, which takes longer: ${message}`),
  );
