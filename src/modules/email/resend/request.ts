// Translation of `POST /emails` and `POST /emails/batch` of Resend's wire into the fields of email.send and email.batch.send. Attachments are
// long, so this is done in a thread.
import { isUtf8 } from 'node:buffer';
import type { BodyTask } from '../../../kit/raw-route.ts';
import { invalidField, problem } from '../../../problems/problem.ts';

/** Both answer JSON text, and throw VALIDATION_FAILED, INVALID_REQUEST, MALFORMED_JSON. */
export const readSend: BodyTask<string> = {
  source: import.meta.url,
  id: 'email.resend.send',
  run: (body) => JSON.stringify({ ...mailOf(fieldsOf(json(body), 'The body'), ''), wait: false }),
};
export const readBatch: BodyTask<string> = {
  source: import.meta.url,
  id: 'email.resend.batch',
  run(body) {
    const sent = json(body);
    if (!Array.isArray(sent))
      throw problem('INVALID_REQUEST', { message: 'The body must be a list of e-mails.', detail: 'body_type' });
    const items = sent.map((email, i) => mailOf(fieldsOf(email, `items[${i}]`), `items[${i}].`));
    return JSON.stringify({ items, wait: false });
  },
};

type Fields = Readonly<Record<string, unknown>>;

/** They have the same name and meaning in both. What is unknown goes through, and is refused by the name that was sent. */
function mailOf({ scheduled_at, template, topic_id, tags, attachments, ...same }: Fields, param: string): object {
  if (template !== undefined) throw absent(`${param}template`, 'Render the template, and send html or text');
  if (topic_id !== undefined && topic_id !== null) throw absent(`${param}topic_id`, 'Send unsubscribe: true');
  return {
    ...same,
    ...(scheduled_at === undefined || scheduled_at === null
      ? {}
      : { send_at: instantOf(scheduled_at, `${param}scheduled_at`) }),
    ...(tags === undefined ? {} : { tags: Array.isArray(tags) ? tags.map(tagText) : tags }),
    ...(attachments === undefined ? {} : { attachments: attachmentsOf(attachments, `${param}attachments`) }),
  };
}

/** A word of ours is name and value of theirs: `order:17`. */
function tagText(tag: unknown): unknown {
  const { name, value } = (tag ?? {}) as Fields;
  return typeof name === 'string' && typeof value === 'string' ? `${name}:${value}` : tag;
}

function attachmentsOf(sent: unknown, param: string): unknown {
  if (!Array.isArray(sent)) return sent;
  return sent.map((each: unknown, i) => {
    const { path, filename, content, ...rest } = fieldsOf(each, `${param}[${i}]`);
    if (path !== undefined) throw absent(`${param}[${i}].path`, 'Send the bytes as content');
    return {
      ...rest,
      filename: typeof filename === 'string' && filename !== '' ? filename : `attachment-${i + 1}`,
      content_base64: bytesOf(content),
    };
  });
}

/** Node's Buffer writes itself so in JSON; a text is base64 already. */
function bytesOf(content: unknown): unknown {
  const { type, data } = (typeof content === 'object' && content !== null ? content : {}) as Fields;
  return type === 'Buffer' && Array.isArray(data) ? Buffer.from(data as number[]).toString('base64') : content;
}

/** With an offset; "in 1 hour" and the like have no one meaning. */
function instantOf(sent: unknown, param: string): unknown {
  if (typeof sent !== 'string' || !Number.isNaN(Date.parse(sent))) return sent;
  throw invalidField(
    param,
    'date-time',
    `${param} must be a date and time with an offset, such as 2030-12-24T18:00:00Z.`,
  );
}

function absent(param: string, instead: string) {
  return invalidField(param, 'unsupported', `${param} is not supported here. ${instead}.`);
}

function fieldsOf(sent: unknown, what: string): Fields {
  if (typeof sent === 'object' && sent !== null && !Array.isArray(sent)) return sent as Fields;
  throw problem('INVALID_REQUEST', { message: `${what} must be a JSON object.`, detail: 'body_type' });
}

function json(body: Buffer): unknown {
  if (!isUtf8(body)) throw problem('MALFORMED_JSON', { message: 'The body is not valid UTF-8.' });
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw problem('MALFORMED_JSON', { message: 'The body is not valid JSON.', cause });
  }
}
