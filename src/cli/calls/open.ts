// `qm open`: opens a page of the console, or the documentation, in this machine's browser, and prints its address.
import { spawn } from 'node:child_process';
import { Command } from 'commander';
import { readEnv } from '../../config/env.ts';
import { address } from '../client/profile.ts';
import { UsageError } from '../output.ts';

export function openCommand(): Command {
  return new Command('open')
    .description('Open the console in a browser. Prints the address, also where there is no browser.')
    .argument('[page]', 'such as queues, queues/jobs, wallet, or docs')
    .action(open);
}

async function open(page = ''): Promise<void> {
  if (!/^[\w./-]*$/.test(page) || page.split('/').includes('..')) throw new UsageError(`${page} is no page`);
  const path = /^docs(\/|$)/.test(page) ? page : `console/${page}`.replace(/\/$/, '');
  const url = `${await address()}/${path}`;
  process.stdout.write(`${url}\n`);
  const opener = openerOf(process.platform);
  if (opener !== null) await startProgram(opener, url);
}

function openerOf(platform: NodeJS.Platform): readonly string[] | null {
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['explorer.exe'];
  const { DISPLAY = '', WAYLAND_DISPLAY = '' } = readEnv();
  return DISPLAY === '' && WAYLAND_DISPLAY === '' ? null : ['xdg-open'];
}

/** A program that cannot be started is no failure: the address is printed. */
function startProgram([program = '']: readonly string[], url: string): Promise<void> {
  const child = spawn(program, [url], { stdio: 'ignore', detached: true });
  child.unref();
  return new Promise((resolve) => {
    child.once('spawn', resolve);
    child.once('error', () => resolve());
  });
}
