// Where plays of calls are given: three vendors that do what each call's play says, one service of two processes.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import {
  chunk,
  completionOf,
  type Deed,
  done,
  embeddingsAnswer,
  frame,
  type Json,
  OpenaiDouble,
  opening,
  type Seen,
} from '../support/ai/openai-double.ts';
import { createPlace, type Place, type ServiceProcess, startProcess } from '../support/process.ts';
import { SECRETS_KEY, startTestService, type TestService } from '../support/service.ts';
import {
  HALF,
  isNative,
  isVectors,
  MAX_OUTPUT,
  type Play,
  REST,
  SHEET,
  STAND_IN,
  type Told,
  VECTORS,
} from './money-plays.ts';
import { PATIENT } from './vendors-bench.ts';

/** A play that is on: what came of it at vendors. */
export interface Given {
  readonly play: Play;
  /** The vendor goes on with it. */
  readonly gate: PromiseWithResolvers<void>;
  /** Who was asked, in this order, and did not refuse. */
  readonly by: string[];
  readonly seen: Seen[];
}

export class Stage {
  readonly given = new Map<string, Given>();
  readonly service: TestService;
  readonly urls: readonly [string, string];
  readonly #doubles: readonly OpenaiDouble[];
  readonly #second: ServiceProcess;
  readonly #place: Place;
  readonly #folder: string;

  private constructor(parts: {
    service: TestService;
    doubles: OpenaiDouble[];
    second: ServiceProcess;
    place: Place;
    folder: string;
  }) {
    this.service = parts.service;
    this.#doubles = parts.doubles;
    this.#second = parts.second;
    this.#place = parts.place;
    this.#folder = parts.folder;
    this.urls = [parts.service.url, parts.second.url];
    for (const [i, id] of ['acme', 'corp', 'msgs'].entries())
      (parts.doubles[i] as OpenaiDouble).rule = (seen) => this.#deedOf(id, seen);
  }

  static async start(): Promise<Stage> {
    const doubles = await Promise.all([1, 2, 3].map(() => OpenaiDouble.start('')));
    const folder = await mkdtemp(join(tmpdir(), 'qm-money-'));
    const file = join(folder, 'vendors.yaml');
    await writeFile(
      file,
      stringify({ version: 1, vendors: vendorsAt(doubles.map(({ url }) => url)) }, { aliasDuplicateObjects: false }),
    );
    const service = await startTestService({ env: { VENDORS_FILE: file } });
    const env = {
      VENDORS_FILE: file,
      DATABASE_URL: service.database.url,
      SECRETS_KEY,
      LOG_LEVEL: 'silent',
      TEST_CLOCK: 'on',
    };
    const place = await createPlace(env);
    return new Stage({ service, doubles, second: await startProcess(place), place, folder });
  }

  async stop(): Promise<void> {
    await this.#second.end('SIGTERM');
    await this.#place.remove();
    await this.service.stop();
    await Promise.all([...this.#doubles.map((double) => double.stop()), rm(this.#folder, { recursive: true })]);
  }

  #deedOf(vendor: string, seen: Seen): Deed | null {
    const given = this.given.get(seen.body.user ?? seen.body.metadata?.user_id);
    if (given === undefined) throw new Error('a call belongs to no play');
    given.seen.push(seen);
    // What stands in stands in.
    const deed = vendor === 'corp' ? 'answers' : given.play.deed;
    if (deed === 'down') return { status: 503, body: '' };
    if (deed === 'refuses') return { status: 400, body: { error: { type: 'invalid_request_error', message: 'no' } } };
    given.by.push(vendor);
    return answerOf({ ...given.play, deed }, seen.path, given.gate.promise);
  }
}

function vendorsAt(urls: readonly string[]) {
  const chat = (id: string, price: object, further = {}) => ({
    id,
    serves: ['ai.chat'],
    price,
    context: 100_000,
    max_output: MAX_OUTPUT,
    images: true,
    ...further,
  });
  const vectors = (further = {}) => ({
    id: 'e-1',
    serves: ['ai.embed'],
    price: VECTORS,
    dimensions: 3,
    embedding_space: 'e',
    ...further,
  });
  const bills = { bills_after_disconnect: true };
  const acme = [
    chat('m-1', SHEET),
    chat('own', SHEET, { cost_from_usage: true }),
    chat('bills', SHEET, bills),
    chat('native', SHEET, { responses: true }),
    vectors({ default_embedding: true }),
  ];
  const of = (id: string, adapter: string, at: number, models: object[]) => ({
    id,
    adapter,
    region: 'western',
    base_url: urls[at],
    timeouts: PATIENT,
    models,
  });
  return [
    of('acme', 'openai', 0, acme),
    of('corp', 'openai', 1, [chat('m-1', STAND_IN), vectors()]),
    of('msgs', 'anthropic', 2, [chat('claude', SHEET), chat('claude-bills', SHEET, bills)]),
    { id: 'sandbox', enabled: false },
  ];
}

/** As the wire that it was asked on says it. */
function answerOf(play: Play, path: string, gate: Promise<void>): Deed {
  const { deed, leaves, stream, told } = play;
  const words = isVectors(play)
    ? vectorWords(told)
    : path.endsWith('/messages')
      ? messageWords(told)
      : isNative(play)
        ? responseWords(told)
        : chatWords(told);
  const early = leaves === 'early' ? { headAfter: gate } : {};
  if (!stream) return { stream: [JSON.stringify(words.whole)], type: 'application/json', ...early };
  if (deed === 'breaks') return { stream: [...words.before, words.half, ...words.usage], ends: 'reset' };
  const middle = leaves === 'midway' ? [gate] : [];
  return { stream: [...words.before, words.half, ...middle, words.rest, ...words.after], ...early };
}

interface Words {
  readonly whole: Json;
  readonly before: readonly string[];
  readonly half: string;
  readonly rest: string;
  /** What it used, where it can say so before the end. */
  readonly usage: readonly string[];
  readonly after: readonly string[];
}

function chatWords(told: Told | null): Words {
  const { plain = 0, cached = 0, written = 0, output = 0, costUsd = null } = told ?? {};
  const counts = {
    prompt_tokens: plain + cached + written,
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    ...(costUsd === null ? {} : { cost: costUsd }),
  };
  const usage = told === null ? [] : [frame({ ...chunk({}), choices: [], usage: counts })];
  return {
    whole: completionOf(HALF + REST, { usage: told === null ? undefined : counts }),
    before: [opening],
    half: frame(chunk({ content: HALF })),
    rest: frame(chunk({ content: REST })),
    usage,
    after: [frame(chunk({}, 'stop')), ...usage, done],
  };
}

const event = (body: Json) => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;

function messageWords(told: Told | null): Words {
  const { plain = 0, cached = 0, written = 0, output = 0 } = told ?? {};
  const input = { input_tokens: plain, cache_read_input_tokens: cached, cache_creation_input_tokens: written };
  const usage = (of: object) => (told === null ? {} : { usage: of });
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude' };
  const said = (text: string) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
  const content = [{ type: 'text', text: HALF + REST }];
  return {
    whole: { ...message, content, stop_reason: 'end_turn', ...usage({ ...input, output_tokens: output }) },
    before: [event({ type: 'message_start', message: { ...message, ...usage({ ...input, output_tokens: 0 }) } })],
    half: said(HALF),
    rest: said(REST),
    usage: [],
    after: [
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...usage({ output_tokens: output }) }),
      event({ type: 'message_stop' }),
    ],
  };
}

function responseWords(told: Told | null): Words {
  const { plain = 0, cached = 0, written = 0, output = 0 } = told ?? {};
  const counts = {
    input_tokens: plain + cached + written,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
  };
  const part = { type: 'output_text', text: HALF + REST, annotations: [] };
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] };
  const head = { id: 'resp_1', object: 'response', created_at: 1_767_225_600, model: 'native', error: null };
  const whole = { ...head, status: 'completed', output: [item], usage: told === null ? null : counts };
  const said = (delta: string) =>
    event({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta });
  return {
    whole,
    before: [event({ type: 'response.created', response: { ...head, status: 'in_progress', output: [] } })],
    half: said(HALF),
    rest: said(REST),
    usage: [],
    after: [event({ type: 'response.completed', response: whole })],
  };
}

function vectorWords(told: Told | null): Words {
  const usage = told === null ? undefined : { prompt_tokens: told.plain };
  return { whole: { ...embeddingsAnswer(1, 'float'), usage }, before: [], half: '', rest: '', usage: [], after: [] };
}
