// What each client that people have is asked to do, in its own words: OpenAI's own on both wires, Anthropic's, the AI SDK on all three, LangChain.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { embedMany, generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';

export const ECHO = 'sandbox/echo-1';
export const NGRAM = 'sandbox/ngram-1';
const PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const citySchema = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const }, population: { type: 'integer' as const } },
  required: ['city', 'population'],
  additionalProperties: false,
};

// biome-ignore lint/suspicious/noExplicitAny: fields of ours, which the clients do not know
type Any = any;

/** `fetch` is what it makes its requests with. */
interface Options {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly fetch: typeof fetch;
}

interface Told {
  readonly text: string;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/** What every client is asked to do. */
export interface Client {
  say(words: string, model?: string): Promise<Told>;
  stream(words: string): Promise<Told>;
  /** Calls the tool that it must, gives its result back, and answers. */
  useTool(): Promise<{ readonly args: unknown; readonly text: string }>;
  object(): Promise<unknown>;
  see(): Promise<string>;
  embed?(inputs: string[]): Promise<number[][]>;
}

export const clients: Readonly<Record<string, (options: Options) => Client>> = {
  openai: (options) => officialChat(new OpenAI(options)),
  'openai, responses': (options) => officialResponses(new OpenAI(options)),
  '@ai-sdk/openai-compatible': (options) => {
    const sdk = createOpenAICompatible({
      ...options,
      name: 'qm',
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
    return aiSdk((id) => sdk(id), sdk.textEmbeddingModel(NGRAM));
  },
  '@ai-sdk/openai, responses': (options) => {
    const sdk = createOpenAI(options);
    return aiSdk((id) => sdk(id), sdk.textEmbeddingModel(NGRAM));
  },
  '@langchain/openai': langchain,
  '@anthropic-ai/sdk': officialMessages,
  '@ai-sdk/anthropic': (options) => {
    const sdk = createAnthropic(options);
    return aiSdk((id) => sdk(id), null);
  },
};

function officialChat(openai: OpenAI): Client {
  const weather = { type: 'function' as const, function: { name: 'weather', parameters: toolSchema } };
  const create = async (messages: Any[], over: object = {}, model = ECHO) =>
    (await openai.chat.completions.create({ model, messages, ...over })) as OpenAI.Chat.ChatCompletion;
  const textOf = ({ choices }: OpenAI.Chat.ChatCompletion) => choices[0]?.message.content ?? '';
  const completionTold = (text: string, usage: OpenAI.CompletionUsage | null | undefined): Told => ({
    text,
    inputTokens: usage?.prompt_tokens,
    outputTokens: usage?.completion_tokens,
  });
  return {
    async say(content, model) {
      const completion = await create([{ role: 'user', content }], {}, model);
      return completionTold(textOf(completion), completion.usage);
    },
    async stream(content) {
      const asked = {
        model: ECHO,
        messages: [{ role: 'user' as const, content }],
        stream_options: { include_usage: true },
      };
      const chunks = await Array.fromAsync(await openai.chat.completions.create({ ...asked, stream: true }));
      return completionTold(
        chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
        chunks.at(-1)?.usage,
      );
    },
    async useTool() {
      const asked = { role: 'user', content: 'Rain?' };
      const first = await create([asked], { tools: [weather], tool_choice: 'required' });
      const said = first.choices[0]?.message as Any;
      const [call] = said.tool_calls;
      const result = { role: 'tool', tool_call_id: call.id, content: 'No.' };
      const text = textOf(await create([asked, said, result], { tools: [weather] }));
      return { args: JSON.parse(call.function.arguments), text };
    },
    async object() {
      const json_schema = { name: 'city', schema: citySchema, strict: true };
      return JSON.parse(
        textOf(
          await create([{ role: 'user', content: 'x' }], { response_format: { type: 'json_schema', json_schema } }),
        ),
      );
    },
    async see() {
      const picture = { type: 'image_url', image_url: { url: PICTURE } };
      return textOf(await create([{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, picture] }]));
    },
    // Base64 on the wire.
    embed: async (input) =>
      (await openai.embeddings.create({ model: NGRAM, input })).data.map(({ embedding }) => embedding),
  };
}

const toolSchema = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
};

function officialResponses(openai: OpenAI): Client {
  const weather = { type: 'function' as const, name: 'weather', parameters: toolSchema, strict: true };
  const responseTold = ({ output_text: text, usage }: OpenAI.Responses.Response): Told => ({
    text,
    inputTokens: usage?.input_tokens,
    outputTokens: usage?.output_tokens,
  });
  return {
    say: async (input, model = ECHO) => responseTold(await openai.responses.create({ model, input })),
    async stream(input) {
      const stream = openai.responses.stream({ model: ECHO, input });
      let text = '';
      for await (const event of stream) {
        if (event.type === 'response.output_text.delta') text += event.delta;
        if (event.type === 'response.failed') throw new Error(event.response.error?.code, { cause: event });
      }
      return { ...responseTold(await stream.finalResponse()), text };
    },
    async useTool() {
      const asked = { role: 'user' as const, content: 'Rain?' };
      const { output } = await openai.responses.create({
        model: ECHO,
        input: [asked],
        tools: [weather],
        tool_choice: 'required',
      });
      const call = output.find(({ type }) => type === 'function_call') as OpenAI.Responses.ResponseFunctionToolCall;
      const result = { type: 'function_call_output' as const, call_id: call.call_id, output: 'No.' };
      const { output_text: text } = await openai.responses.create({
        model: ECHO,
        input: [asked, ...output, result] as Any,
        tools: [weather],
      });
      return { args: JSON.parse(call.arguments), text };
    },
    async object() {
      const format = { type: 'json_schema' as const, name: 'city', schema: citySchema, strict: true };
      return JSON.parse((await openai.responses.create({ model: ECHO, input: 'x', text: { format } })).output_text);
    },
    async see() {
      const content = [
        { type: 'input_text' as const, text: 'What is it?' },
        { type: 'input_image' as const, image_url: PICTURE, detail: 'auto' as const },
      ];
      return (await openai.responses.create({ model: ECHO, input: [{ role: 'user', content }] })).output_text;
    },
  };
}

/** Its base address is that of the service. */
export function anthropic({ baseURL, ...options }: Options): Anthropic {
  return new Anthropic({ ...options, baseURL: baseURL.replace(/\/v1$/, '') });
}

function officialMessages(options: Options): Client {
  const { messages } = anthropic(options);
  const usual = { model: ECHO, max_tokens: 1_000 };
  const weather = { name: 'weather', input_schema: toolSchema };
  const textOf = ({ content }: Anthropic.Message) =>
    content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const messageTold = (message: Anthropic.Message): Told => ({
    text: textOf(message),
    inputTokens: message.usage.input_tokens,
    outputTokens: message.usage.output_tokens,
  });
  const userTurn = (content: Anthropic.MessageParam['content']) => [{ role: 'user' as const, content }];
  return {
    say: async (words, model = ECHO) =>
      messageTold(await messages.create({ ...usual, model, messages: userTurn(words) })),
    async stream(words) {
      const stream = messages.stream({ ...usual, messages: userTurn(words) });
      let text = '';
      stream.on('text', (piece) => {
        text += piece;
      });
      return { ...messageTold(await stream.finalMessage()), text };
    },
    async useTool() {
      const first = await messages.create({
        ...usual,
        messages: userTurn('Rain?'),
        tools: [weather],
        tool_choice: { type: 'any' },
      });
      const use = first.content.find((block) => block.type === 'tool_use') as Anthropic.ToolUseBlock;
      const result = { type: 'tool_result' as const, tool_use_id: use.id, content: 'No.' };
      const turns = [
        ...userTurn('Rain?'),
        { role: 'assistant' as const, content: first.content },
        ...userTurn([result, { type: 'text', text: 'Rain?' }]),
      ];
      const second = await messages.create({ ...usual, messages: turns, tools: [weather] });
      return { args: use.input, text: textOf(second) };
    },
    async object() {
      const output_config = { format: { type: 'json_schema' as const, schema: citySchema } };
      return JSON.parse(textOf(await messages.create({ ...usual, messages: userTurn('x'), output_config })));
    },
    async see() {
      const source = {
        type: 'base64' as const,
        media_type: 'image/png' as const,
        data: PICTURE.split(',')[1] as string,
      };
      const content = [
        { type: 'text' as const, text: 'What is it?' },
        { type: 'image' as const, source },
      ];
      return textOf(await messages.create({ ...usual, messages: userTurn(content) }));
    },
  };
}

function aiSdk(model: (id: string) => Any, embedding: Any): Client {
  return {
    async say(prompt, id = ECHO) {
      const { text, usage } = await generateText({ model: model(id), prompt });
      return { text, inputTokens: usage.inputTokens, outputTokens: usage.outputTokens };
    },
    async stream(prompt) {
      let failure: unknown = null;
      const stream = streamText({
        model: model(ECHO),
        prompt,
        onError: ({ error }) => {
          failure = error;
        },
      });
      const text = (await Array.fromAsync(stream.textStream)).join('');
      if (failure !== null) throw failure instanceof Error ? failure : new Error(JSON.stringify(failure));
      const { inputTokens, outputTokens } = await stream.usage;
      return { text, inputTokens, outputTokens };
    },
    async useTool() {
      let args: unknown;
      const weather = tool({
        inputSchema: jsonSchema(toolSchema),
        execute: (input) => {
          args = input;
          return 'No.';
        },
      });
      const { text } = await generateText({
        model: model(ECHO),
        prompt: 'Rain?',
        tools: { weather },
        stopWhen: stepCountIs(2),
        prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? 'required' : 'auto' }),
      });
      return { args, text };
    },
    object: async () =>
      (await generateObject({ model: model(ECHO), schema: jsonSchema(citySchema), prompt: 'x' })).object,
    async see() {
      const content = [
        { type: 'text' as const, text: 'What is it?' },
        { type: 'image' as const, image: PICTURE },
      ];
      return (await generateText({ model: model(ECHO), messages: [{ role: 'user', content }] })).text;
    },
    embed: async (values) => (await embedMany({ model: embedding, values })).embeddings,
  };
}

function langchain({ apiKey, ...configuration }: Options): Client {
  const chat = (model = ECHO) => new ChatOpenAI({ apiKey, model, configuration });
  const messageTold = ({ text, usage_metadata: usage }: Any): Told => ({
    text,
    inputTokens: usage?.input_tokens,
    outputTokens: usage?.output_tokens,
  });
  return {
    say: async (words, model) => messageTold(await chat(model).invoke(words)),
    async stream(words) {
      let whole: Any;
      for await (const chunk of await chat().stream(words)) whole = whole === undefined ? chunk : whole.concat(chunk);
      return messageTold(whole);
    },
    async useTool() {
      const weather = { type: 'function' as const, function: { name: 'weather', parameters: toolSchema } };
      const asked = new HumanMessage('Rain?');
      const said = await chat().bindTools([weather], { tool_choice: 'required' }).invoke([asked]);
      const [call] = said.tool_calls ?? [];
      const result = new ToolMessage({ content: 'No.', tool_call_id: call?.id ?? '' });
      const again = new AIMessage({ content: said.content, tool_calls: said.tool_calls ?? [] });
      const { text } = await chat().bindTools([weather]).invoke([asked, again, result]);
      return { args: call?.args, text };
    },
    object: () =>
      chat()
        .withStructuredOutput(citySchema as Any, { name: 'city', method: 'jsonSchema' })
        .invoke('x'),
    async see() {
      const content = [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: PICTURE } },
      ];
      return (await chat().invoke([new HumanMessage({ content })])).text;
    },
    embed: (inputs) => new OpenAIEmbeddings({ apiKey, model: NGRAM, configuration }).embedDocuments(inputs),
  };
}
