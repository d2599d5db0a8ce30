// deploy/docker/Dockerfile, walked: no container engine runs where this is tested, so each step runs in a folder with Debian in it. Then its
// command runs as a container does, as compose.yaml asks: not root, no capability, a read-only root, one volume.
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { execContained, missingForChroot, startContained } from '../support/chroot.ts';
import { buildImage, type Image } from '../support/image.ts';
import { childrenOf, PROJECT } from '../support/process.ts';
import { isSoak } from '../support/soak.ts';

const BUILD_TIMEOUT_MS = 900_000;
const APP_MB_MAX = 300;
const missing = isSoak ? missingForChroot() : 'only in npm run test:soak';
if (isSoak && missing !== null) console.warn(`The Dockerfile is not walked: it needs ${missing}.`);

const place = mkdtempSync(join(tmpdir(), 'quartermaster-image-'));
afterAll(() => rmSync(place, { recursive: true }));

interface Container {
  readonly process: ChildProcess;
  /** Of its process 1, from outside. */
  readonly pid: number;
}

/** Files that are not as they were when the bundle was made of them: with one such, the service starts from single files. */
function changedSinceBundled(app: string): string[] {
  const bundled = JSON.parse(readFileSync(join(app, 'node_modules/.cache/quartermaster/current.json'), 'utf8'));
  const stamps = Object.entries(bundled.files as Record<string, [mtimeMs: number, size: number]>);
  const changed = stamps.filter(([path, [mtimeMs, size]]) => {
    const found = statSync(join(app, path), { throwIfNoEntry: false });
    return found?.mtimeMs !== mtimeMs || found.size !== size;
  });
  return changed.map(([path]) => path);
}

describe.skipIf(missing !== null)(
  `the image of the Dockerfile${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    const volume = join(place, 'volume');
    let image: Image;
    let running: Container | null = null;

    beforeAll(() => {
      image = buildImage(join(PROJECT, 'deploy/docker/Dockerfile'), place);
      // A new volume gets the content and the owner of the image's folder.
      execFileSync('cp', ['-a', join(image.root, image.volume as string), volume]);
    }, BUILD_TIMEOUT_MS);
    afterAll(() => running?.process.kill('SIGKILL'));

    const settings = () => ({ ...image, env: { HOME: image.volume as string, ...image.env } });
    const exec = (...command: string[]) => execContained((running as Container).pid, settings(), command);
    const isHealthy = () => execContained((running as Container).pid, settings(), image.healthcheck);

    async function start(): Promise<void> {
      const mount = { folder: volume, mountedAt: image.volume as string };
      const child = startContained(image.root, settings(), mount, image.entrypoint);
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += chunk));
      await expect.poll(() => childrenOf(child.pid as number)).toHaveLength(1);
      running = { process: child, pid: childrenOf(child.pid as number)[0] as number };
      await expect.poll(() => isHealthy().status === 0 || said, { timeout: 60_000 }).toBe(true);
    }

    async function stop(): Promise<unknown> {
      const { process: child, pid } = running as Container;
      const exited = once(child, 'exit');
      process.kill(pid, image.stopSignal as NodeJS.Signals);
      const [code] = await exited;
      running = null;
      return code;
    }

    /** Calls of README, from the network of the container: the key is in the volume. */
    function call(commands: string): string {
      const args = ['--target', String((running as Container).pid), '--net', 'sh', '-ec'];
      const text = commands.replaceAll('data/operator.key', join(volume, 'operator.key'));
      return execFileSync('nsenter', [...args, text], { encoding: 'utf8' });
    }

    test('holds what runs, and nothing that only builds', () => {
      expect(image).toMatchObject({ user: 'quartermaster', volume: '/data', port: '8787' });
      const app = join(image.root, 'app');
      expect(
        globSync(['src/**/*.test.ts', 'scripts', 'node_modules/{rolldown,@rolldown,@types,typescript}'], { cwd: app }),
      ).toEqual([]);
      expect(existsSync(join(image.root, 'usr/local/bin/npm'))).toBe(false);
      expect(changedSinceBundled(app)).toEqual([]);
      const megabytes = Number.parseInt(execFileSync('du', ['-sm', '--apparent-size', app], { encoding: 'utf8' }), 10);
      expect(megabytes).toBeLessThanOrEqual(APP_MB_MAX);
    });

    test("starts from its bundle without rights, is healthy by its own check, answers README's first call, stops in order, and keeps its data", async () => {
      await start();
      const status = readFileSync(`/proc/${running?.pid}/status`, 'utf8');
      expect(/^Uid:\t(\d+)/m.exec(status)?.[1]).toBe('10001');
      expect(/^CapBnd:\t0+$/m.test(status) && /^NoNewPrivs:\t1$/m.test(status)).toBe(true);
      expect(exec('touch', '/app/written').output).toContain('Read-only file system');

      const readme = readFileSync(join(PROJECT, 'README.md'), 'utf8');
      const first = /```sh\n(.*?)```/s.exec(readme.split('## First call\n')[1] as string)?.[1] as string;
      const answers = call(first);
      expect(answers.match(/"ok":true/g)).toHaveLength(1);
      expect(answers).toMatch(/hello/i);
      const key = 'Authorization: Bearer $(cat data/operator.key)';
      expect(
        call(
          `curl -sS http://127.0.0.1:8787/v1/queue/create -H "${key}" -H 'Content-Type: application/json' -d '{"name":"jobs"}'`,
        ),
      ).toContain('"ok":true');
      expect(exec('/app/bin/qm', 'doctor')).toMatchObject({ status: 0 });
      expect(await stop()).toBe(0);

      await start();
      expect(call(`curl -sS http://127.0.0.1:8787/v1/queue/list -H "${key}"`)).toContain('"name":"jobs"');
      expect(await stop()).toBe(0);
    }, 240_000);
  },
);
