// Passes on the output of a vendor that itself speaks the responses wire: its events unchanged, and its response whole.
import { objectsOf, type WireObject } from '../../../lib/chat/body.ts';

/** Whether it is a response, not a completion. */
export function isResponse({ object }: WireObject): boolean {
  return object === 'response';
}

/** The events of a stream that would end with the response, without its end. */
export function eventsOf(response: WireObject): WireObject[] {
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...objectsOf(response.output).flatMap(eventsOfItem),
  ];
  return events.map((event, sequence) => ({ ...event, sequence_number: sequence }));
}

function eventsOfItem(item: WireObject, index: number): WireObject[] {
  const address = { item_id: item.id, output_index: index };
  const empty = { ...(item.content === undefined ? {} : { content: [] }), ...(isCall(item) ? { arguments: '' } : {}) };
  return [
    { type: 'response.output_item.added', output_index: index, item: { ...item, ...empty, status: 'in_progress' } },
    ...objectsOf(item.content).flatMap((part, i) => eventsOfPart(part, { ...address, content_index: i })),
    ...(isCall(item) ? deltaAndDone('response.function_call_arguments', 'arguments', item, address) : []),
    { type: 'response.output_item.done', output_index: index, item },
  ];
}

function isCall({ type, arguments: words }: WireObject): boolean {
  return type === 'function_call' && typeof words === 'string';
}

function eventsOfPart(part: WireObject, address: object): WireObject[] {
  const partAdded = (text: object) => ({ type: 'response.content_part.added', ...address, part: { ...part, ...text } });
  const done = { type: 'response.content_part.done', ...address, part };
  if (part.type !== 'output_text') return [partAdded({}), done];
  return [
    partAdded({ text: '' }),
    ...deltaAndDone('response.output_text', 'text', part, { ...address, logprobs: [] }),
    done,
  ];
}

/** As it comes, and once more when it is whole. */
function deltaAndDone(event: string, member: string, of: WireObject, address: object): WireObject[] {
  return [
    { type: `${event}.delta`, ...address, delta: of[member] },
    { type: `${event}.done`, ...address, [member]: of[member] },
  ];
}
