// Installed programs, each in a process of its own: boto3, s3cmd, rclone, restic, s3fs. Each runs where it is installed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printedByPythons } from '../support/pythons.ts';
import { S3Bench } from './harness.ts';

const python = printedByPythons('import boto3; print(boto3.__version__)').find(
  ({ printed }) => printed !== null,
)?.python;
const isInstalled = (program: string) => spawnSync('which', [program]).status === 0;
const program = (name: string, isThere = isInstalled(name)) =>
  isThere
    ? describe
    : (title: string, tests: () => void) => describe.skip(`${title} (not here: ${name} is not installed)`, tests);

let bench: S3Bench;
let folder: string;
beforeAll(async () => {
  bench = await S3Bench.start();
  folder = await mkdtemp(join(tmpdir(), 'qm-s3-'));
});
afterAll(async () => {
  await bench.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Run {
  readonly env?: Record<string, string>;
  readonly input?: string;
  /** What else than 0 it may end with. */
  readonly mayFail?: boolean;
}

/** Runs a program to its end; answers what it printed. */
async function run(command: string, args: readonly string[], { env = {}, input = '', mayFail = false }: Run = {}) {
  const child = spawn(command, args, { timeout: 100_000, env: { PATH: process.env.PATH, HOME: folder, ...env } });
  // Most read nothing, and may have ended before.
  child.stdin.on('error', () => undefined).end(input);
  const [[code], stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  if (!mayFail) expect(code, `${command} ${args.join(' ')}\n${stderr}${stdout}`).toBe(0);
  return stdout + stderr;
}

/** A folder with files of many kinds. */
async function someFiles(name: string): Promise<string> {
  const place = join(folder, name);
  await mkdir(join(place, 'sub folder', 'ü'), { recursive: true });
  await writeFile(join(place, 'empty'), '');
  await writeFile(join(place, 'a+b & c.txt'), 'text');
  await writeFile(join(place, 'sub folder', 'ü', 'é.bin'), randomBytes(300_000));
  await writeFile(join(place, 'long.bin'), randomBytes(11 * 2 ** 20));
  return place;
}

/** Every file below a folder with its bytes. */
async function filesIn(place: string): Promise<Record<string, string>> {
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  const files = entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  const read = files.sort().map(async (path) => [path.slice(place.length), (await readFile(path)).toString('base64')]);
  return Object.fromEntries(await Promise.all(read));
}

program('boto3', python !== undefined)('boto3', () => {
  test.each([
    ['below /s3', () => `${bench.url}/s3`],
    ['at the port of S3', () => bench.root],
  ])('does all that a program does, %s', async (where, endpoint) => {
    const { accessKeyId, secretAccessKey } = bench.key;
    const bucket = `boto3-${where.length}`;
    const keys = [
      'plain',
      'a b+c',
      'é',
      'e\u0301',
      'a//b',
      '/lead',
      '../x',
      'a%2Fb',
      '&<>"\'',
      '漢/😀',
      '\u0001\u001f',
      ' ',
    ];
    const args = [join(import.meta.dirname, 'boto3_program.py'), endpoint(), accessKeyId, secretAccessKey, bucket];
    const seen = JSON.parse(await run(python as string, args, { input: JSON.stringify(keys) }));
    expect(seen).toMatchObject({
      buckets: true,
      listed: true,
      listed_old: true,
      read: true,
      copied: true,
      signed: 'signed',
      deleted: true,
      big: [21 * 2 ** 20, 'video/mp4'],
      big_same: true,
      big_copy: 21 * 2 ** 20,
      gone: ['404', 404],
      failures: {
        missing: ['NoSuchKey', 404],
        head: ['404', 404],
        no_bucket: ['NoSuchBucket', 404],
        full: ['BucketNotEmpty', 409],
        acl: ['AccessControlListNotSupported', 400],
        range: ['InvalidRange', 416],
        unchanged: ['304', 304],
        upload: ['NoSuchUpload', 404],
      },
    });
  });
});

program('s3cmd')('s3cmd', () => {
  const s3cmd = (args: readonly string[], more: Run = {}) => {
    const { host } = new URL(bench.root);
    const { accessKeyId, secretAccessKey } = bench.key;
    const to = ['--no-ssl', `--host=${host}`, `--host-bucket=${host}`, '--region=us-east-1', '--config=/dev/null'];
    return run('s3cmd', [...to, `--access_key=${accessKeyId}`, `--secret_key=${secretAccessKey}`, ...args], more);
  };

  test('makes a bucket, sends and gets files, syncs folders, and removes them', async () => {
    const place = await someFiles('s3cmd');
    await s3cmd(['mb', 's3://s3cmd-bucket']);
    await s3cmd(['put', '--multipart-chunk-size-mb=5', join(place, 'long.bin'), 's3://s3cmd-bucket/long']);
    expect(await s3cmd(['ls', 's3://s3cmd-bucket'])).toMatch(/11534336\s+s3:\/\/s3cmd-bucket\/long/);
    await s3cmd(['get', 's3://s3cmd-bucket/long', join(folder, 's3cmd-long')]);
    expect((await readFile(join(folder, 's3cmd-long'))).equals(await readFile(join(place, 'long.bin')))).toBe(true);
    await s3cmd(['sync', `${place}/`, 's3://s3cmd-bucket/copy/']);
    const back = join(folder, 's3cmd-back');
    await mkdir(back);
    await s3cmd(['sync', 's3://s3cmd-bucket/copy/', `${back}/`]);
    expect(await filesIn(back)).toEqual(await filesIn(place));
    expect(await s3cmd(['info', 's3://s3cmd-bucket/long'], { mayFail: true })).toContain('File size: 11534336');
    await s3cmd(['mv', 's3://s3cmd-bucket/long', 's3://s3cmd-bucket/moved é']);
    await s3cmd(['del', '--recursive', '--force', 's3://s3cmd-bucket']);
    await s3cmd(['rb', 's3://s3cmd-bucket']);
  });
});

program('rclone')('rclone', () => {
  const rclone = (
    args: readonly string[],
    { endpoint = `${bench.url}/s3`, ...more }: Run & { endpoint?: string } = {},
  ) => {
    const env = {
      RCLONE_CONFIG: '/dev/null',
      RCLONE_CONFIG_QM_TYPE: 's3',
      RCLONE_CONFIG_QM_PROVIDER: 'Other',
      RCLONE_CONFIG_QM_ENDPOINT: endpoint,
      RCLONE_CONFIG_QM_FORCE_PATH_STYLE: 'true',
      RCLONE_CONFIG_QM_ACCESS_KEY_ID: bench.key.accessKeyId,
      RCLONE_CONFIG_QM_SECRET_ACCESS_KEY: bench.key.secretAccessKey,
      RCLONE_S3_UPLOAD_CUTOFF: '6M',
      RCLONE_S3_CHUNK_SIZE: '5M',
      RCLONE_RETRIES: '1',
      RCLONE_LOW_LEVEL_RETRIES: '1',
    };
    return run('rclone', args, { ...more, env });
  };

  test.each([
    ['below /s3', () => `${bench.url}/s3`],
    ['at the port of S3', () => bench.root],
  ])('copies, checks and syncs folders, %s', async (where, at) => {
    const endpoint = at();
    const place = await someFiles(`rclone-${where.length}`);
    const remote = `qm:rclone-${where.length}`;
    await rclone(['mkdir', remote], { endpoint });
    await rclone(['copy', place, `${remote}/copy`], { endpoint });
    expect(await rclone(['check', '--download', place, `${remote}/copy`], { endpoint })).toContain(
      '0 differences found',
    );
    await rm(join(place, 'empty'));
    await writeFile(join(place, 'new'), 'new');
    await rclone(['sync', place, `${remote}/copy`], { endpoint });
    const back = join(folder, `rclone-back-${where.length}`);
    await rclone(['copy', `${remote}/copy`, back], { endpoint });
    expect(await filesIn(back)).toEqual(await filesIn(place));
    await rclone(['copyto', `${remote}/copy/long.bin`, `${remote}/server side`], { endpoint });
    expect(await rclone(['cat', '--head', '4', `${remote}/copy/new`], { endpoint })).toContain('new');
    await rclone(['purge', remote], { endpoint });
  });

  test('finds by its own test that names and streams are kept', async () => {
    await rclone(['mkdir', 'qm:rclone-info']);
    const told = await rclone(['test', 'info', '--all', '--upload-wait', '0', 'qm:rclone-info/test']);
    expect(told).toContain('canWriteUnnormalized = true');
    expect(told).toContain('canReadUnnormalized   = true');
    expect(told).toContain('canReadRenormalized   = false');
    expect(told).toContain('canStream = true');
  });
});

program('restic')('restic', () => {
  const restic = (args: readonly string[], more: Run = {}) =>
    run('restic', ['--no-cache', '-r', `s3:${bench.root}/restic-bucket`, ...args], { ...more, env: resticEnv() });
  const resticEnv = () => ({
    AWS_ACCESS_KEY_ID: bench.key.accessKeyId,
    AWS_SECRET_ACCESS_KEY: bench.key.secretAccessKey,
    RESTIC_PASSWORD: 'a password of tests',
  });

  test('backs up, survives being killed, checks all data, and restores it', async () => {
    const place = await someFiles('restic');
    await restic(['init']);
    await restic(['backup', place]);
    await cp(join(place, 'long.bin'), join(place, 'copy.bin'));
    await writeFile(join(place, 'more.bin'), randomBytes(64 * 2 ** 20));
    await killedBackup(place);
    await restic(['unlock', '--remove-all']);
    await restic(['backup', place]);
    expect(await restic(['check', '--read-data'])).toContain('no errors were found');
    const target = join(folder, 'restored');
    await restic(['restore', 'latest', '--target', target]);
    expect(await filesIn(join(target, place))).toEqual(await filesIn(place));
    await restic(['forget', '--keep-last', '1', '--prune']);
    expect(await restic(['check'])).toContain('no errors were found');
  });

  async function killedBackup(place: string): Promise<void> {
    const args = ['--no-cache', '--limit-upload', '8192', '-r', `s3:${bench.root}/restic-bucket`, 'backup', place];
    const child: ChildProcess = spawn('restic', args, {
      env: { PATH: process.env.PATH, HOME: folder, ...resticEnv() },
    });
    await sleep(3_000);
    expect(child.exitCode).toBeNull();
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

program('s3fs', isInstalled('s3fs') && existsSync('/dev/fuse') && isInstalled('fusermount'))('s3fs', () => {
  // Nothing here may wait for the mounted folder by itself: the service that answers it is in this process.
  test('mounts a bucket as a folder', async (context) => {
    await bench.bucket('s3fs-bucket');
    const mounted = join(folder, 'mounted');
    await mkdir(mounted);
    const { accessKeyId, secretAccessKey } = bench.key;
    const password = join(folder, '.passwd-s3fs');
    await writeFile(password, `${accessKeyId}:${secretAccessKey}`, { mode: 0o600 });
    const options = `url=${bench.root},use_path_request_style,sigv4,endpoint=us-east-1,passwd_file=${password}`;
    const child = spawn('s3fs', ['s3fs-bucket', mounted, '-f', '-o', options], { stdio: ['ignore', 'ignore', 'pipe'] });
    const told = text(child.stderr);
    try {
      const isMounted = async () => (await readFile('/proc/mounts', 'utf8')).includes(` ${mounted} fuse.s3fs `);
      for (let i = 0; i < 50 && child.exitCode === null && !(await isMounted()); i += 1) await sleep(100);
      // Who may not mount anything cannot show it.
      if (!(await isMounted())) return context.skip(`s3fs cannot mount here: ${(await told).slice(0, 200)}`);
      const place = await someFiles('s3fs');
      await run('cp', ['-r', place, `${mounted}/copy`]);
      await run('diff', ['-r', place, `${mounted}/copy`]);
      expect(await bench.text('s3fs-bucket', 'copy/a+b & c.txt')).toBe('text');
      await run('mv', [`${mounted}/copy/long.bin`, `${mounted}/moved`]);
      await run('cmp', [`${place}/long.bin`, `${mounted}/moved`]);
      await run('rm', ['-r', `${mounted}/copy`]);
    } finally {
      await run('fusermount', ['-uz', mounted], { mayFail: true });
      if (child.exitCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    }
  });
});
