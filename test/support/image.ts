// What a builder of images does with a Dockerfile, in folders: its instructions one by one, of the kinds that ours has. Any other is refused.
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, matchesGlob, posix } from 'node:path';
import { type Copy, DockerfileParser, type From, type Instruction } from 'dockerfile-ast';
import { layBase, PATH, runStep } from './chroot.ts';
import { PROJECT } from './process.ts';

export interface Image {
  readonly root: string;
  readonly env: Record<string, string>;
  user: string;
  workdir: string;
  volume: string | null;
  port: string | null;
  stopSignal: string;
  healthcheck: readonly string[];
  entrypoint: readonly string[];
}

/** Builds `file` with the project as context; stages are folders below `place`. Answers the last one. */
export function buildImage(file: string, place: string): Image {
  const stages = new Map<string, Image>();
  const isSent = readIgnored(`${file}.dockerignore`);
  let image: Image | null = null;
  for (const instruction of DockerfileParser.parse(readFileSync(file, 'utf8')).getInstructions()) {
    if (instruction.getKeyword() !== 'FROM') apply(instruction, image as Image, { stages, isSent });
    else {
      const from = instruction as From;
      const name = from.getBuildStage() ?? String(stages.size);
      image = beginStage(from.getImage() as string, join(place, name));
      stages.set(name, image);
    }
  }
  return image as Image;
}

function beginStage(base: string, root: string): Image {
  layBase(base, root);
  return {
    root,
    env: { PATH },
    user: 'root',
    workdir: '/',
    volume: null,
    port: null,
    stopSignal: 'SIGTERM',
    healthcheck: [],
    entrypoint: [],
  };
}

interface Context {
  readonly stages: ReadonlyMap<string, Image>;
  readonly isSent: (path: string) => boolean;
}

function apply(instruction: Instruction, image: Image, context: Context): void {
  const text = instruction.getArgumentsContent() as string;
  const words = (): string[] => JSON.parse(text.replace(/^CMD\s+/, ''));
  switch (instruction.getKeyword()) {
    case 'RUN':
      runStep(image.root, { ...image, env: { HOME: '/root', ...image.env } }, ['/bin/sh', '-c', text]);
      break;
    case 'COPY':
      copy(instruction as Copy, image, context);
      break;
    case 'WORKDIR':
      image.workdir = posix.resolve(image.workdir, text);
      mkdirSync(join(image.root, image.workdir), { recursive: true });
      break;
    case 'ENV':
      Object.assign(image.env, Object.fromEntries(text.split(/\s+/).map((pair) => pair.split('='))));
      break;
    case 'USER':
      image.user = text;
      break;
    case 'VOLUME':
      image.volume = text;
      break;
    case 'EXPOSE':
      image.port = text;
      break;
    case 'STOPSIGNAL':
      image.stopSignal = text;
      break;
    case 'HEALTHCHECK':
      image.healthcheck = words();
      break;
    case 'ENTRYPOINT':
      image.entrypoint = words();
      break;
    default:
      throw new Error(`the walk has no ${instruction.getKeyword()}`);
  }
}

function copy(instruction: Copy, image: Image, { stages, isSent }: Context): void {
  const paths = instruction.getArguments().map((argument) => argument.getValue());
  const target = paths.pop() as string;
  const folder = join(image.root, posix.resolve(image.workdir, target));
  const stage = instruction.getFromFlag()?.getValue();
  const source = stage == null ? PROJECT : stages.get(stage)?.root;
  if (source === undefined) throw new Error(`COPY from ${stage}, which is no stage before`);
  for (const path of paths) {
    const from = join(source, path);
    if (!statSync(from).isDirectory()) {
      if (stage == null && !isSent(path)) throw new Error(`COPY ${path}: .dockerignore keeps it from the builder`);
      const isFolder = target.endsWith('/');
      transfer(dirname(from), [basename(from)], isFolder ? folder : dirname(folder));
    } else transfer(from, stage == null ? filesSent(path, isSent) : ['.'], folder);
  }
}

const filesSent = (path: string, isSent: (path: string) => boolean) =>
  globSync('**/*', { cwd: join(PROJECT, path) }).filter(
    (file) => isSent(join(path, file)) && !statSync(join(PROJECT, path, file)).isDirectory(),
  );

/** By tar, as layers are: times keep whole seconds, and root owns what comes from the project. */
function transfer(from: string, paths: readonly string[], to: string): void {
  if (paths.length === 0) throw new Error(`nothing is copied from ${from}`);
  mkdirSync(to, { recursive: true });
  const pipe = 'tar -C "$0" -cf - --owner=0 --group=0 -T - | tar -C "$1" -xpf -';
  execFileSync('bash', ['-o', 'pipefail', '-c', pipe, from, to], { input: paths.join('\n') });
}

/** Whether the builder is sent a path: the last line of .dockerignore that names it, or a folder above it, decides. */
function readIgnored(file: string): (path: string) => boolean {
  const rules = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ isSent: line.startsWith('!'), pattern: line.replace(/^!/, '') }));
  const isNamed = (path: string, pattern: string): boolean =>
    path !== '.' && (matchesGlob(path, pattern) || isNamed(dirname(path), pattern));
  return (path) => rules.findLast(({ pattern }) => isNamed(path, pattern))?.isSent ?? true;
}
