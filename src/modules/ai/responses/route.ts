// POST /v1/responses: the newer wire of OpenAI's clients, translated onto a chat. Nothing is stored between two of its calls.
import { admission } from '../../../core/admission.ts';
import { bearer } from '../../../core/credentials/http-schemes.ts';
import { KEY_FIELD } from '../../../core/idempotency/fingerprint.ts';
import { jsonFields } from '../../../kit/openai-wire.ts';
import type { BodyTask, RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { objectsOf, type WireObject } from '../../../lib/chat/body.ts';
import { type PackedJson, packJson } from '../../../lib/long-json.ts';
import { digestOf, type FieldNames, readChat, type Sent, type SentChat, withoutOwn } from '../calls/ask.ts';
import { requireSize } from '../calls/body-size.ts';
import { packLong, unpackHanded } from '../calls/open.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { answerChat, contextOf, refuse } from '../openai/answer.ts';
import type { AiState } from '../state.ts';
import { chatBodyOf } from './request.ts';
import { ResponseWire } from './wire.ts';

export const responsesRoute: RawRoute<AiState> = {
  name: 'ai.responses',
  methods: ['POST'],
  path: '/v1/responses',
  capability: 'ai.chat',
  entryForm: 'openai_compat',
  bodyBytesMax: BODY_BYTES_MAX,
  stream: 'answer',
  credentialOf: bearer,
  refuse,
  answer: respond,
};

/** As they are called here. */
const names: FieldNames = { messages: 'input', limit: 'max_output_tokens', format: 'text.format' };

const CHARACTERS_PER_TOKEN = 4;

interface Read {
  readonly ask: SentChat;
  readonly key: unknown;
  readonly fingerprint: string;
  /** Packed when it is long. */
  readonly echo: WireObject | PackedJson;
}

/** Throws MALFORMED_JSON, INVALID_REQUEST, VALIDATION_FAILED. */
export const readResponseBody: BodyTask<Read> = {
  source: import.meta.url,
  id: 'ai.responses',
  run(body) {
    const sent = jsonFields(body);
    const text = body.toString('utf8');
    requireSize(sent);
    const chat = chatBodyOf(sent);
    const ask = readChat(chat, JSON.stringify(chat), names);
    const digest = digestOf(text);
    const own = { wire: 'responses', body: withoutOwn(sent), headers: {}, digest } as const;
    // By any wire, the same chat is the same to the cache; a key repeats what was sent on this one.
    return {
      ask: packLong({ ...ask, own, tokensBeside: thoughtTokens(sent) }, text.length),
      key: sent[KEY_FIELD],
      fingerprint: digest,
      echo: text.length > admission.call.readHereBytesMax ? packJson(echoOf(sent)) : echoOf(sent),
    };
  },
};

/** Of items of reasoning: no part of the chat, but of what a vendor gets that speaks this wire. */
function thoughtTokens({ input }: Sent): number {
  const thoughts = objectsOf(input).filter(({ type }) => type === 'reasoning');
  return thoughts.length === 0 ? 0 : Math.ceil(JSON.stringify(thoughts).length / CHARACTERS_PER_TOKEN);
}

async function respond(request: RawRequest, state: AiState): Promise<RawAnswer> {
  const ctx = await contextOf(request);
  const { ask, key, fingerprint, echo } = await request.read(readResponseBody, request.body);
  request.takeKey(key, () => fingerprint);
  return answerChat(
    request,
    state,
    ctx,
    ask,
    new ResponseWire(await unpackHanded(echo), request.requestId, (bytes) => ctx.holdAnswer(bytes)),
  );
}

/** What a response tells again of its request, with what is meant where that says nothing. */
function echoOf(sent: Sent): WireObject {
  const nothing = { instructions: null, max_output_tokens: null, temperature: null, top_p: null, user: null };
  const usual = {
    metadata: {},
    parallel_tool_calls: true,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
  };
  const usually: WireObject = { ...nothing, ...usual, reasoning: null, truncation: 'disabled' };
  return Object.fromEntries(Object.entries(usually).map(([name, value]) => [name, sent[name] ?? value]));
}
