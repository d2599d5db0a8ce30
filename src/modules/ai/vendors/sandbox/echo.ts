// echo-1, a sandbox model that is no language model, and says so. It restates the user's last message, calls the tool that it must call, and
// answers with an instance of the requested schema. Its text is the same for the same request, and exact in all that clients rely on.
import { hash } from 'node:crypto';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { isObject, objectsOf, textsOf, type WireObject } from '../../../../lib/chat/body.ts';
import { tokenPiecesOf } from '../../../../lib/chat/token-counter.ts';
import type { TokenPiece } from '../../../../lib/chat/tokens.ts';
import { randomHex } from '../../../../lib/random-hex.ts';
import { TimeSlices } from '../../../../lib/time-slices.ts';
import type { Refused } from '../../../../vendors/call/port.ts';
import type { AiCall, AiUsage, ChatPiece, ChatReply, ChatRequest } from '../port.ts';
import { instanceOf, NoInstance } from './instance.ts';
import { type Orders, ordersIn } from './orders.ts';

const RESTATED_CHARACTERS_MAX = 32 * 1024;
/** Others get their turn between so many pieces. */
const PIECES_PER_TURN = 32;
const STOPS_MAX = 4;
/** Values of schemas take some milliseconds each: one is made in a turn of the event loop. */
const instances = new TimeSlices();

/** What is said, once for all choices. */
interface Said {
  readonly pieces: readonly TokenPiece[];
  readonly call: { readonly name: string; readonly id: string } | null;
  readonly finish: 'stop' | 'length' | 'tool_calls';
}

export async function echo({ signal }: AiCall, request: ChatRequest): Promise<ChatReply> {
  const { body, stream } = request;
  const asked = lastOfUser(body);
  const orders = ordersIn(asked);
  if (orders.slowMs > 0 && !(await pause(orders.slowMs, signal))) return { kind: 'not_sent' };
  if (orders.fail !== null) return refusal(orders.fail, `The sandbox fails with ${orders.fail}, as it was told to.`);
  const said = await saying(request, asked);
  if (said.kind === 'refused') return said;
  // Two answers are never the same one, whatever they say.
  const id = `chatcmpl-${randomHex(12)}`;
  const created = Math.floor(Date.now() / 1_000);
  const base = { id, created, model: request.model.id, system_fingerprint: 'sandbox' };
  const choices = Number(body.n ?? 1);
  const usage = orders.tellsUsage ? usageOf(request, said, choices) : null;
  if (stream) return { kind: 'stream', pieces: piecesOf({ base, said, choices, usage, orders, signal }) };
  if (orders.breakAfter !== null) return refusal('VENDOR_DOWN', 'The sandbox breaks off, as it was told to.');
  const all = Array.from({ length: choices }, (_, index) => ({
    index,
    message: messageOf(said),
    logprobs: null,
    finish_reason: said.finish,
  }));
  return { kind: 'completed', completion: { ...base, object: 'chat.completion', choices: all }, usage };
}

function refusal(reason: Refused['reason'], message: string): Refused {
  return { kind: 'refused', reason, breaker: { kind: 'none' }, message, vendorSaid: null };
}

async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  await sleep(ms, null, { signal }).catch(() => null);
  return !signal.aborted;
}

function lastOfUser({ messages }: WireObject): string {
  const last = objectsOf(messages).findLast(({ role }) => role === 'user');
  return last === undefined ? '' : textsOf(last).join('\n').slice(0, RESTATED_CHARACTERS_MAX);
}

async function saying(
  { body, outputTokensMax }: ChatRequest,
  asked: string,
): Promise<(Said & { readonly kind: 'said' }) | Refused> {
  try {
    const tool = forcedTool(body);
    const schema = schemaOf(body);
    if (tool !== null || schema !== null) await instances.next();
    const whole =
      tool !== null
        ? JSON.stringify(instanceOf(parametersOf(tool)))
        : schema !== null
          ? JSON.stringify(instanceOf(schema))
          : echoText(body, asked);
    const stopped = tool === null ? cutAtStop(whole, body.stop) : whole;
    const pieces = await tokenPiecesOf(stopped);
    const fitting = within(pieces, outputTokensMax);
    const isCut = fitting.length < pieces.length;
    const call =
      tool === null
        ? null
        : { name: String(tool.name), id: `call_${hash('sha256', `${tool.name}${whole}`, 'hex').slice(0, 24)}` };
    return { kind: 'said', pieces: fitting, call, finish: isCut ? 'length' : call === null ? 'stop' : 'tool_calls' };
  } catch (error) {
    if (!(error instanceof NoInstance)) throw error;
    return refusal('VALIDATION_FAILED', `The sandbox finds no value of the schema: ${error.message}.`);
  }
}

function echoText(body: WireObject, asked: string): string {
  const text = `[sandbox] You said: ${asked}`;
  return isObject(body.response_format) && body.response_format.type === 'json_object'
    ? JSON.stringify({ text })
    : text;
}

/** The function that must be called; null: none must. */
function forcedTool({ tools, tool_choice: choice }: WireObject): WireObject | null {
  const functions = objectsOf(tools).flatMap((tool) => (isObject(tool.function) ? [tool.function] : []));
  if (choice === 'required') return functions[0] ?? null;
  if (!isObject(choice) || !isObject(choice.function)) return null;
  const { name } = choice.function;
  return functions.find((tool) => tool.name === name) ?? null;
}

function parametersOf({ parameters }: WireObject): WireObject {
  return isObject(parameters) ? parameters : { type: 'object', properties: {} };
}

function schemaOf({ response_format: format }: WireObject): WireObject | null {
  if (!isObject(format) || format.type !== 'json_schema' || !isObject(format.json_schema)) return null;
  const { schema } = format.json_schema;
  return isObject(schema) ? schema : {};
}

function cutAtStop(text: string, stop: unknown): string {
  const stops = [stop]
    .flat()
    .filter((one): one is string => typeof one === 'string' && one !== '')
    .slice(0, STOPS_MAX);
  const ends = stops.map((one) => text.indexOf(one)).filter((at) => at >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

/** As many as the limit has room for; a character of several tokens is there whole or not at all. */
function within(pieces: readonly TokenPiece[], tokensMax: number): TokenPiece[] {
  let tokens = 0;
  const end = pieces.findIndex((piece) => {
    tokens += piece.tokens;
    return tokens > tokensMax;
  });
  return end === -1 ? [...pieces] : pieces.slice(0, end);
}

function textOf({ pieces }: Said): string {
  return pieces.map(({ text }) => text).join('');
}

function messageOf(said: Said): WireObject {
  const text = textOf(said);
  if (said.call === null) return { role: 'assistant', content: text, refusal: null };
  const { id, name } = said.call;
  return {
    role: 'assistant',
    content: null,
    refusal: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: text } }],
  };
}

function usageOf({ inputTokens }: ChatRequest, { pieces }: Said, choices: number): AiUsage {
  const outputTokens = choices * pieces.reduce((sum, { tokens }) => sum + tokens, 0);
  const none = { cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, costUsd: null };
  return { ...none, inputTokens, outputTokens };
}

interface Streaming {
  readonly base: WireObject;
  readonly said: Said;
  readonly choices: number;
  readonly usage: AiUsage | null;
  readonly orders: Orders;
  readonly signal: AbortSignal;
}

async function* piecesOf({ base, said, choices, usage, orders, signal }: Streaming): AsyncGenerator<ChatPiece, void> {
  const chunk = (index: number, delta: WireObject, finish: string | null = null): ChatPiece => {
    const all = [{ index, delta, logprobs: null, finish_reason: finish }];
    const hasContent = 'tool_calls' in delta || (typeof delta.content === 'string' && delta.content !== '');
    return { kind: 'chunk', chunk: { ...base, object: 'chat.completion.chunk', choices: all }, hasContent };
  };
  const all = Array.from({ length: choices }, (_, index) => index);
  for (const index of all) yield chunk(index, openingOf(said));
  let sent = 0;
  for (const { text } of said.pieces) {
    for (const index of all) {
      if (signal.aborted || sent === orders.breakAfter) {
        yield { kind: 'failed', failure: refusal('VENDOR_DOWN', 'The sandbox broke off, as it was told to.') };
        return;
      }
      yield chunk(index, deltaOf(said, text));
      sent += 1;
      if (sent % PIECES_PER_TURN === 0) await turn();
    }
  }
  for (const index of all) yield chunk(index, {}, said.finish);
  if (usage !== null) yield { kind: 'usage', usage };
  yield { kind: 'end' };
}

function openingOf({ call }: Said): WireObject {
  if (call === null) return { role: 'assistant', content: '', refusal: null };
  const opened = { index: 0, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
  return { role: 'assistant', content: null, tool_calls: [opened] };
}

function deltaOf({ call }: Said, text: string): WireObject {
  return call === null ? { content: text } : { tool_calls: [{ index: 0, function: { arguments: text } }] };
}
