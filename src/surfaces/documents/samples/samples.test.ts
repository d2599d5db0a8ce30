// The same example in three languages is the same calls.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { fixtureManifest } from '../../../../test/contract/fixture.ts';
import { modules } from '../../../modules/index.ts';
import { composeManifest } from '../discovery.ts';
import { samplesOf } from './samples.ts';

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

const examples = [fixtureManifest, composeManifest(modules)].flatMap((manifest) =>
  manifest.capabilities.flatMap((capability) =>
    capability.examples.map((example) => samplesOf(manifest, capability, example, 'http://127.0.0.1:8787')),
  ),
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

async function sentByTypeScript(program: string): Promise<Sent[]> {
  const sent: Sent[] = [];
  const fetched = async (url: string, { method = 'GET', body = 'null' }) => {
    sent.push({ method, url, body: JSON.parse(body) });
    return { json: async () => ({}) };
  };
  const run = Object.getPrototypeOf(async () => {}).constructor as new (
    ...text: string[]
  ) => (...given: unknown[]) => Promise<void>;
  await new run('fetch', 'console', 'process', program)(fetched, { log() {} }, { env: { QM_KEY: 'secret' } });
  return sent;
}

const every = examples.filter((_, i) => i % 7 === 0 || i < 20);

test('in TypeScript', async () => {
  for (const samples of every)
    expect(await sentByTypeScript(textOf(samples, 'ts'))).toEqual(sentByCurl(textOf(samples, 'bash')));
});

test.skipIf(spawnSync('python3', ['--version']).status !== 0)('in Python', () => {
  const programs = JSON.stringify(every.map((samples) => textOf(samples, 'python')));
  const script = `
import json, sys, io, os, urllib.request, contextlib
os.environ["QM_KEY"] = "secret"
sent = []
def opened(request):
    sent[-1].append({"method": request.method, "url": request.full_url, "body": json.loads(request.data or b"null")})
    return contextlib.closing(io.StringIO("{}"))
urllib.request.urlopen = opened
for program in json.load(sys.stdin):
    sent.append([])
    with contextlib.redirect_stdout(io.StringIO()):
        exec(program, {})
print(json.dumps(sent))`;
  const { stdout, stderr } = spawnSync('python3', ['-c', script], { input: programs, encoding: 'utf8' });
  expect(stderr).toBe('');
  const expected = every.map((samples) => sentByCurl(textOf(samples, 'bash')));
  expect(JSON.parse(stdout)).toEqual(expected);
});
