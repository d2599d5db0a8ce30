// Port of a language-model vendor, one adapter for each wire protocol. Input and output have the shape of the chat-completions wire, whatever
// the vendor speaks. An adapter asks once, keeps nothing, and never throws for what a vendor does.
import type { TSchema } from 'typebox';
import type { WireObject } from '../../../lib/chat/body.ts';
import type { NotSent, Refused, VendorCall } from '../../../vendors/call/port.ts';

/** One vendor as one call asks it. */
export interface AiCall extends Omit<VendorCall, 'timeouts'> {
  readonly timeouts: AiTimeouts;
  /** So many bytes of a picture are to be fetched and held until the vendor has answered. Throws the Problem of a refusal. */
  holdPicture(bytes: number): void;
  /** The head of the vendor's answer says that it takes the call on. Of what is made here nobody is told. */
  markAccepted(): void;
  /** A line of a stream could not be read, and was left out. */
  countDroppedLine(): void;
}

export interface AiTimeouts {
  readonly connectMs: number;
  /** From the request to the first content: text, tool call, refusal or reasoning; not streamed: to the whole answer. */
  readonly firstContentMs: number;
  /** Between two pieces of a stream. */
  readonly idleMs: number;
  readonly totalMs: number;
}

/** What adapters need of a model's row. */
export interface AiModel {
  /** The vendor's id of the model. */
  readonly id: string;
  readonly jsonSchema: 'native' | 'tool' | null;
  readonly reasoning: boolean;
  /** The adapter's own fields of the row (`AiAdapter.modelFields`). */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface ChatRequest {
  readonly model: AiModel;
  /** The body of chat/completions as it was sent, without the fields that are ours; `model` and the limit in it do not count. */
  readonly body: WireObject;
  /** The most tokens that one choice may have: always sent. */
  readonly outputTokensMax: number;
  /** Whether the answer comes piece by piece. Usage is asked for in any case. */
  readonly stream: boolean;
  /** Of the body, counted here without its pictures. */
  readonly inputTokens: number;
  /** Of a request as it came on a wire of its own: those of the client's headers that belong to the wire, in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A wire beside that of chats, on which some vendors take a request as it came. */
export type OwnWire = 'responses' | 'messages';

export interface EmbedRequest {
  readonly model: AiModel;
  readonly inputs: readonly string[] | readonly (readonly number[])[];
  /** Null: as many as the model has. */
  readonly dimensions: number | null;
  /** The most that a vector may have: longer answers are refused. */
  readonly dimensionsMax: number;
  /** Further fields of the body, such as `user`. */
  readonly further: WireObject;
  /** Of all inputs, counted here. */
  readonly inputTokens: number;
}

/** As the vendor reports it; null where it says nothing. A zero is a zero. */
export interface AiUsage {
  /** Cached ones included. */
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  /** Part of the output. */
  readonly reasoningTokens: number;
  /** What the vendor says that it cost, USD; null: it does not say. */
  readonly costUsd: number | null;
}

/** A piece of a stream, in the order of the wire. */
export type ChatPiece =
  | {
      readonly kind: 'chunk';
      /** `chat.completion.chunk` without `usage`; of an own wire an event. */
      readonly chunk: WireObject;
      /** Whether it has text, a tool call, a refusal or reasoning: the stream is committed to. */
      readonly hasContent: boolean;
    }
  /** `isPartial`: as far as the answer has come; it is told again. */
  | { readonly kind: 'usage'; readonly usage: AiUsage; readonly isPartial?: true }
  /** The vendor said that this is all. A stream that stops without one has failed. `response`: the whole, of a vendor that tells it at its end. */
  | { readonly kind: 'end'; readonly response?: WireObject }
  /** The vendor failed in the stream, or broke off, or was silent for too long. The last piece. */
  | { readonly kind: 'failed'; readonly failure: Refused };

export type ChatReply =
  | { readonly kind: 'completed'; readonly completion: WireObject; readonly usage: AiUsage | null }
  /** Accepted. To be read to its end, or returned: that aborts the request. */
  | { readonly kind: 'stream'; readonly pieces: AsyncIterableIterator<ChatPiece> }
  /** No answer, or none that counts: another vendor may be asked, where the reason says so. */
  | Refused
  | NotSent;

export type EmbedReply =
  | {
      readonly kind: 'embedded';
      /** One for each input, in its order. */
      readonly vectors: readonly Float32Array[];
      readonly usage: AiUsage | null;
    }
  | Refused
  | NotSent;

export interface AiLack {
  /** Of the body, with dots and `[n]`. */
  readonly field: string;
  /** Of what kind it is, as errors tell it. */
  readonly rule: string;
  /** `… of the type file`: what is not taken. */
  readonly what: string;
}

export interface AiModelFault {
  readonly field: string;
  readonly message: string;
}

export interface AiAdapter {
  /** As in `adapter:` of the configuration. */
  readonly name: string;
  /** Where its vendor usually is; without one the configuration must say. */
  readonly baseUrl?: string;
  /** Fields of a model's row that only this adapter has, by their name in the file. */
  readonly modelFields: Readonly<Record<string, TSchema>>;
  /** What the row says that this wire cannot do; `field` with dots and `[n]`, relative to the row. */
  check(model: AiModel, serves: readonly string[]): readonly AiModelFault[];
  /** What the body asks for that this wire cannot say; null: nothing. Absent: it says all that chat/completions can. */
  lacks?(body: WireObject): AiLack | null;
  chat(call: AiCall, request: ChatRequest): Promise<ChatReply>;
  /** The wire on which it takes requests as they came. Absent: none. */
  readonly own?: {
    readonly wire: OwnWire;
    /** Whether the model of a row with these fields takes them. */
    speaks(options: AiModel['options']): boolean;
    /** `body` of the request is as that wire says it, chunks are its events, the completion is its answer. */
    ask(call: AiCall, request: ChatRequest): Promise<ChatReply>;
  };
  /** Absent: this wire has no embeddings. */
  embed?(call: AiCall, request: EmbedRequest): Promise<EmbedReply>;
}
