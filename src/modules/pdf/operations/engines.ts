// The pool of PDF threads: a few, each with limits of memory and time, in turns by account. Requests of a thread to the outside are fetched
// here, through the guard.

import { inBrowserFolder } from '../../../browser/folder.ts';
import type { Perform, Performed, TaskPool } from '../../../core/account-threads.ts';
import type { Admission } from '../../../core/admission.ts';
import { readSource } from '../../../files/source.ts';
import type { CallContext, Services } from '../../../kit/services.ts';
import { invalidField, Problem } from '../../../problems/problem.ts';
import type { CreateTask, EngineAnswer, EngineQuestion, EngineReply, EngineTask, EngineWish } from '../engine/wire.ts';
import type { PdfSettings } from '../settings.ts';

type Bounds = Admission['call']['pdf'];
type Work = Perform<EngineWish, EngineAnswer, never, EngineQuestion, EngineReply>;
type Answered = Exclude<EngineAnswer, { kind: 'refused' }>;

export class Engines {
  readonly #threads: TaskPool<EngineWish, EngineAnswer, never, EngineQuestion, EngineReply>;
  readonly #bounds: Bounds;

  constructor({ bounds, rendering }: Pick<Services, 'bounds' | 'rendering'>, { threads, fontsFolder }: PdfSettings) {
    const {
      all,
      account,
      call: { pdf },
    } = bounds;
    const waiting = { max: all.pdfsWaitingMax, perOwnerMax: account.pdfsWaitingMax };
    this.#bounds = pdf;
    const place = { fontsFolder, chromiumPath: rendering.chromiumPath, browserMb: pdf.browserMb };
    this.#threads = rendering.pool<EngineWish, EngineTask, EngineAnswer, EngineQuestion, EngineReply>({
      name: 'pdf.engine',
      source: new URL('../engine/thread.ts', import.meta.url),
      bounds: { ...pdf, threads, waiting },
      complete: (wish, perform) => completeTask(wish, place, perform),
    });
  }

  /**
   * Throws VALIDATION_FAILED for what cannot be made or read, takes too long or too much memory; CONCURRENCY_LIMITED and OVERLOADED when too
   * many wait.
   */
  run<Kind extends Answered['kind']>(
    ctx: CallContext,
    task: EngineWish,
    kind: Kind,
  ): Promise<Extract<Answered, { kind: Kind }>> {
    ctx.idle();
    return this.#threads.run(ctx.accountId, ctx.signal, async (perform) => {
      const answer = await this.#within(ctx, task, perform);
      if (answer.kind === 'refused') throw problemOf(answer.field, answer.index, answer.rule, answer.message);
      if (answer.kind !== kind) throw new Error(`a thread answered ${answer.kind} in place of ${kind}`);
      return answer as Extract<Answered, { kind: Kind }>;
    });
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  async #within(ctx: CallContext, task: EngineWish, perform: Work): Promise<EngineAnswer> {
    const fetcher = new Fetcher(ctx, this.#bounds);
    const talk = { onAsk: ({ url }: EngineQuestion) => fetcher.fetch(url) };
    const done = await perform(task, { talk, transfer: buffersOf(task) });
    if (done.kind === 'answer') return done.answer;
    const why = done.kind === 'late' ? `takes longer than ${this.#bounds.msMax / 1_000} s` : 'takes too much memory';
    throw problemOf(fieldOf(task), null, 'too_complex', `It ${why}. Send less of it at a time.`);
  }
}

type Place = Pick<CreateTask, 'chromiumPath' | 'fontsFolder' | 'browserMb'>;

/** A browser gets a folder of its own, which goes with it: also when its thread was ended. */
async function completeTask(
  wish: EngineWish,
  place: Place,
  perform: (task: EngineTask) => Promise<Performed<EngineAnswer>>,
): Promise<Performed<EngineAnswer>> {
  if (wish.kind === 'fill') return perform({ ...wish, fontsFolder: place.fontsFolder });
  if (wish.kind !== 'create') return perform(wish);
  if (place.chromiumPath === null || wish.engine === 'document')
    return perform({ ...wish, ...place, browserFolder: null });
  return inBrowserFolder('qm-pdf-', (browserFolder) => perform({ ...wish, ...place, browserFolder }));
}

/** What one document has fetched. */
class Fetcher {
  readonly #ctx: CallContext;
  readonly #bounds: Bounds;
  #fetches = 0;
  #bytes = 0;

  constructor(ctx: CallContext, bounds: Bounds) {
    this.#ctx = ctx;
    this.#bounds = bounds;
  }

  async fetch(url: string): Promise<EngineReply> {
    const none = { bytes: null, contentType: null, status: 0 };
    this.#fetches += 1;
    const { fetchesMax, fetchedBytesMax } = this.#bounds;
    if (this.#fetches > fetchesMax) return { ...none, message: `more than ${fetchesMax} files were asked for` };
    const bytesMax = fetchedBytesMax - this.#bytes;
    try {
      const { bytes, contentType } = await readSource(this.#ctx, { url }, { bytesMax, param: 'content' });
      this.#bytes += bytes.length;
      return { bytes, contentType, status: 200, message: '' };
    } catch (error) {
      if (!(error instanceof Problem) || error.httpStatus !== 400) throw error;
      return { ...none, message: error.message.replace(/\.$/, '') };
    }
  }
}

function buffersOf(task: EngineWish): ArrayBuffer[] {
  if (task.kind === 'create') return [];
  const sources = task.kind === 'merge' ? task.sources : [task.source];
  return [...new Set(sources.map(({ buffer }) => buffer as ArrayBuffer))];
}

function fieldOf({ kind }: EngineWish): string {
  return kind === 'create' ? 'content' : kind === 'merge' ? 'sources' : 'source';
}

function problemOf(field: string, index: number | null, rule: string, message: string): Problem {
  const param = index === null ? field : `${field}[${index}]`;
  return invalidField(param, rule, message);
}
