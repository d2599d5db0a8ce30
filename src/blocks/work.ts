// Runs a block task, on the event loop or in a thread. The task is an export of a file, which threads import too.
import type { BlockKind, ScanTask, StoredBlock } from './block.ts';

export interface BlockTask {
  readonly source: string;
  readonly exportName: string;
  readonly blocks: readonly StoredBlock[];
  readonly args: unknown;
}

export async function perform({ source, exportName, blocks, args }: BlockTask): Promise<unknown> {
  const file = (await import(source)) as Readonly<Record<string, BlockKind | ScanTask<unknown, unknown>>>;
  const exported = file[exportName];
  if (exported === undefined) throw new Error(`${source} exports no ${exportName}`);
  return 'merge' in exported ? exported.merge(blocks) : exported.run(blocks, args);
}
