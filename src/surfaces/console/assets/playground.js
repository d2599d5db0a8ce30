// @ts-check
// The playground's conversation: shows an answer as it comes, keeps what was said in this tab while the session lasts, and shows it when its page is
// opened again.

const KEY = 'qm-playground';
const FIELDS = ['turns', 'model', 'system', 'temperature', 'max_completion_tokens'];
const usd = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 9 });
/** @typedef {{ role: string, content: string, note?: string, costUsd?: number }} Turn */
/** @typedef {{ token: string, values: Record<string, string> }} Kept */

const form = document.querySelector('.playground')?.closest('form');
const ground = /** @type {HTMLElement | null} */ (document.querySelector('.playground'));
const fresh = document.querySelector('[data-new]');
/** @type {AbortController | null} */
let asking = null;

fresh?.addEventListener('click', () => sessionStorage.removeItem(KEY));
if (form instanceof HTMLFormElement) {
  if (fieldOf('turns').value === '[]') restore();
  else keep();
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (asking === null) void ask();
    else asking.abort();
  });
}

/** @param {string} name @returns {HTMLInputElement} */
function fieldOf(name) {
  return /** @type {HTMLInputElement} */ (form?.elements.namedItem(name));
}

function keep() {
  const values = Object.fromEntries(FIELDS.map((name) => [name, fieldOf(name).value]));
  sessionStorage.setItem(KEY, JSON.stringify({ token: fieldOf('form_token').value, values }));
}

function restore() {
  /** @type {Kept | null} */
  const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null');
  // Of another session in this tab: it is nobody's here.
  if (kept === null || kept.token !== fieldOf('form_token').value) return sessionStorage.removeItem(KEY);
  for (const name of FIELDS) fieldOf(name).value = kept.values[name] ?? '';
  chat().append(...turns().map(said));
  fresh?.removeAttribute('hidden');
}

/** @returns {Turn[]} */
function turns() {
  return JSON.parse(fieldOf('turns').value);
}

/** The list of what was said. */
function chat() {
  const there = document.querySelector('.chat');
  if (there !== null) return there;
  const list = document.createElement('ol');
  list.className = 'chat';
  ground?.firstElementChild?.prepend(list);
  return list;
}

/** What is asked of the model. */
function question() {
  const number = (/** @type {string} */ name) =>
    fieldOf(name).value === '' ? {} : { [name]: Number(fieldOf(name).value) };
  const system = fieldOf('system').value;
  return {
    model: fieldOf('model').value || 'auto',
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...turns().map(({ role, content }) => ({ role, content })),
      { role: 'user', content: fieldOf('prompt').value },
    ],
    ...number('temperature'),
    ...number('max_completion_tokens'),
  };
}

async function ask() {
  const asked = question();
  const prompt = { role: 'user', content: fieldOf('prompt').value };
  const [mine, answer] = [said(prompt), said({ role: 'assistant', content: '' })];
  chat().append(mine, answer);
  tell(null);
  asking = new AbortController();
  const send = form?.querySelector('button.main');
  if (send) send.textContent = 'Stop';
  try {
    const made = await streamed(asked, answer, asking.signal);
    fieldOf('turns').value = JSON.stringify([...turns(), prompt, made]);
    fieldOf('prompt').value = '';
    answer.replaceWith(said(made));
    showCall(asked);
    fresh?.removeAttribute('hidden');
    keep();
  } catch (error) {
    // What was asked stays in its field.
    mine.remove();
    answer.remove();
    if (!asking.signal.aborted) tell(error instanceof Error ? error.message : String(error));
  } finally {
    asking = null;
    if (send) send.textContent = 'Send';
  }
}

/** The answer, shown as it comes. @param {object} asked @param {HTMLElement} item @param {AbortSignal} signal @returns {Promise<Turn>} */
async function streamed(asked, item, signal) {
  const text = item.querySelector('pre');
  const response = await fetch(ground?.dataset.wire ?? '', {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json', 'x-form-token': fieldOf('form_token').value },
    body: JSON.stringify({ ...asked, stream: true, stream_options: { include_usage: true } }),
  });
  if (!response.ok || response.body === null) throw new Error(wordsOf(await response.json().catch(() => null)));
  const turn = { role: 'assistant', content: '', note: '', costUsd: 0 };
  try {
    for await (const event of eventsOf(response.body)) {
      if (event.error) throw new Error(wordsOf(event));
      const piece = event.choices?.[0]?.delta?.content ?? '';
      turn.content += piece;
      text?.append(piece);
      if (!event.usage) continue;
      turn.costUsd = event.service_metadata?.cost_usd ?? 0;
      turn.note = `${event.model} · ${event.usage.total_tokens} tokens · $${usd.format(turn.costUsd)}`;
    }
  } catch (error) {
    // Who stops an answer keeps what there is of it.
    if (!signal.aborted || turn.content === '') throw error;
    turn.note = 'Stopped';
  }
  if (turn.note === '') throw new Error('The answer broke off. Try again.');
  return turn;
}

/** @param {ReadableStream<Uint8Array>} body */
async function* eventsOf(body) {
  const [reader, decoder] = [body.getReader(), new TextDecoder()];
  let rest = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const frames = (rest + decoder.decode(read.value, { stream: true })).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const data = frame.startsWith('data: ') ? frame.slice('data: '.length) : '[DONE]';
      if (data !== '[DONE]') yield JSON.parse(data);
    }
  }
}

/** @param {{ error?: { message?: string } } | null} failed */
function wordsOf(failed) {
  return failed?.error?.message ?? 'The call failed. Try again.';
}

/** Why there is no answer; null: there is one. @param {string | null} words */
function tell(words) {
  document.getElementById('chat-failed')?.remove();
  if (words === null) return;
  const told = document.createElement('p');
  told.id = 'chat-failed';
  told.className = 'fault';
  told.role = 'alert';
  told.textContent = words;
  fieldOf('prompt').closest('.field')?.append(told);
}

/** The last call and what all have cost. @param {object} asked */
function showCall(asked) {
  const cost = turns().reduce((sum, { costUsd = 0 }) => sum + costUsd, 0);
  const so = form?.querySelector('.actions .quiet');
  if (so) so.textContent = `$${usd.format(cost)} so far`;
  document.getElementById('call')?.remove();
  const [details, summary, text] = [
    document.createElement('details'),
    document.createElement('summary'),
    document.createElement('pre'),
  ];
  details.id = 'call';
  summary.textContent = 'The call';
  text.className = 'text';
  text.tabIndex = 0;
  text.ariaLabel = 'The call';
  const body = JSON.stringify(asked).replaceAll("'", "'\\''");
  text.textContent = `curl -sS '${location.origin}${ground?.dataset.call}' \\\n  -H "Authorization: Bearer $QM_KEY" -H 'Content-Type: application/json' \\\n  -d '${body}'`;
  details.append(summary, text);
  form?.after(details);
}

/** @param {Turn} turn */
function said({ role, content, note = '' }) {
  const [item, head, text, foot] = ['li', 'h2', 'pre', 'p'].map((tag) => document.createElement(tag));
  if (!item || !head || !text || !foot) throw new Error('no element');
  const isUser = role === 'user';
  item.className = role;
  head.textContent = isUser ? 'You' : 'Model';
  text.textContent = content;
  text.className = 'text';
  text.tabIndex = 0;
  text.ariaLabel = isUser ? 'Prompt' : 'Answer';
  text.dir = 'auto';
  foot.textContent = note;
  foot.className = 'quiet small';
  item.append(head, text, ...(note === '' ? [] : [foot]));
  return item;
}
