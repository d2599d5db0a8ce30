// @ts-check
// Keeps the conversation of the playground in this tab while the session lasts, and shows it when its page is opened again.

const KEY = 'qm-playground';
const FIELDS = ['turns', 'model', 'system', 'temperature', 'max_completion_tokens'];
/** @typedef {{ token: string, values: Record<string, string> }} Kept */

const form = document.querySelector('.playground')?.closest('form');
const fresh = document.querySelector('[data-new]');
fresh?.addEventListener('click', () => sessionStorage.removeItem(KEY));
if (form instanceof HTMLFormElement) {
  if (fieldOf('turns').value === '[]') restore();
  else keep();
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
  const list = document.createElement('ol');
  list.className = 'chat';
  list.append(...JSON.parse(kept.values.turns ?? '[]').map(said));
  document.querySelector('.playground > div')?.prepend(list);
  fresh?.removeAttribute('hidden');
}

/** @param {{ role: string, content: string, note?: string }} turn */
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
