// The same example in three languages is the same calls. The clients add idempotency keys and say nothing of what is empty.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createClient } from '../../../../clients/typescript/quartermaster.js';
import { modules } from '../../../modules/index.ts';
import { composeManifest } from '../discovery.ts';
import { samplesOf } from './samples.ts';

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

const manifest = composeManifest(modules);
const examples = manifest.capabilities
  .filter(({ status }) => status !== 'planned')
  .flatMap((capability) =>
    capability.examples.map((example) => samplesOf(manifest, capability, example, 'http://127.0.0.1:8787')),
  );

function textOf(samples: (typeof examples)[number] | undefined, language: string): string {
  return samples?.find((sample) => sample.language === language)?.text ?? expect.fail(`no ${language}`);
}

/** What each command would send: the shell gives curl's arguments to a function that prints them, each ended by a NUL. */
function sentByCurl(script: string): Sent[] {
  const { stdout } = spawnSync('sh', ['-c', `curl() { printf '%s\\0' "$@" END; }; QM_KEY=secret\n${script}`], {
    encoding: 'utf8',
  });
  const calls = stdout.split('END\0').slice(0, -1);
  return calls.map((call) => {
    const args = call.split('\0').slice(0, -1);
    const after = (flag: string) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined);
    const body = after('-d');
    return {
      method: after('-X') ?? 'GET',
      url: args.find((arg) => arg.startsWith('http://')) ?? '',
      body: body === undefined ? null : JSON.parse(body),
    };
  });
}

/** Alike by curl and by a client. */
function plain({ method, url, body }: Sent): Sent {
  const { origin, pathname, searchParams } = new URL(url);
  const query = [...searchParams].map(([name, value]) => `${name}=${value}`).sort();
  const { idempotency_key: _, ...rest } = (body ?? {}) as Record<string, unknown>;
  return { method, url: `${origin}${pathname}?${query.join('&')}`, body: rest };
}

async function sentByTypeScript(program: string): Promise<Sent[]> {
  const sent: Sent[] = [];
  const fetched = async (url: string, { method = 'GET', body = 'null' }) => {
    sent.push({ method, url, body: JSON.parse(body) });
    return new Response('{"ok":true,"data":{},"metadata":{}}');
  };
  const run = Object.getPrototypeOf(async () => {}).constructor as new (
    ...text: string[]
  ) => (...given: unknown[]) => Promise<void>;
  const [first = '', ...rest] = program.split('\n');
  expect(first).toBe("import { createClient } from 'quartermaster-client';");
  const create = (options: object) => createClient({ ...options, key: 'secret', fetch: fetched as typeof fetch });
  await new run('createClient', 'console', rest.join('\n'))(create, { log() {} });
  return sent;
}

const every = examples.filter((_, i) => i % 7 === 0 || i < 20);

test('in TypeScript', async () => {
  for (const samples of every)
    expect((await sentByTypeScript(textOf(samples, 'ts'))).map(plain)).toEqual(
      sentByCurl(textOf(samples, 'bash')).map(plain),
    );
});

test.skipIf(spawnSync('python3', ['--version']).status !== 0)('in Python', () => {
  const programs = JSON.stringify(every.map((samples) => textOf(samples, 'python')));
  const script = `
import json, sys, io, os, urllib.request, contextlib
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
os.environ["QM_KEY"] = "secret"
sent = []
class Answer(io.BytesIO):
    status = 200
class Opener:
    def open(self, request, timeout):
        sent[-1].append({"method": request.method, "url": request.full_url, "body": json.loads(request.data or b"null")})
        return Answer(b'{"ok": true, "data": {}, "metadata": {}}')
urllib.request.build_opener = lambda *given: Opener()
for program in json.load(sys.stdin):
    sent.append([])
    with contextlib.redirect_stdout(io.StringIO()):
        exec(program, {})
print(json.dumps(sent))`;
  const client = join(import.meta.dirname, '../../../../clients/python');
  const { stdout, stderr } = spawnSync('python3', ['-c', script, client], { input: programs, encoding: 'utf8' });
  expect(stderr).toBe('');
  const expected = every.map((samples) => sentByCurl(textOf(samples, 'bash')).map(plain));
  expect((JSON.parse(stdout) as Sent[][]).map((calls) => calls.map(plain))).toEqual(expected);
});
