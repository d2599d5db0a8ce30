// @ts-check
// The console's script: a page is fetched again when something has moved, and morphed in place, so that scroll, focus and typed text stay;
// letters lead to pages. Without it the pages do all the same, by hand.

/** @typedef {{ morph(old: Element, next: Element, options: object): void }} Morph */
const idiomorph = /** @type {{ Idiomorph: Morph }} */ (/** @type {unknown} */ (globalThis)).Idiomorph;
/** @type {{ createHTML(text: string): string }} */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy('qm', {
  createHTML: (/** @type {string} */ text) => text,
}) ?? {
  createHTML: (text) => text,
};
const { body } = document;
const POLL_MS = 10_000;
const RETRY_MS = 2_000;
/** Longer than any form takes to be answered. */
const LEAVES_MS = 60_000;

// What a form did is told once: reloaded, or kept as a bookmark, the page does not tell it again.
const address = new URL(location.href);
if (address.searchParams.has('done')) {
  address.searchParams.delete('done');
  history.replaceState(history.state, '', address);
}

// Which groups of the navigation are folded is kept in a cookie, so that each page comes as it was left.
const GROUPS_KEPT_SECONDS = 31_536_000;
document.getElementById('pages')?.addEventListener(
  'toggle',
  ({ target }) => {
    if (!(target instanceof HTMLDetailsElement)) return;
    const folded = [...document.querySelectorAll('#pages details:not([open])')].map((each) =>
      each.getAttribute('data-group'),
    );
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store is for https only
    document.cookie = `qm_folded=${folded.join('.')}; path=/; max-age=${GROUPS_KEPT_SECONDS}; samesite=lax`;
  },
  true,
);

// Who has not said how they want it is offered the zone of their browser.
const offer = document.querySelector('[data-own-zone]');
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
if (offer instanceof HTMLButtonElement && timeZone !== 'UTC') {
  offer.append(timeZone);
  if (offer.parentElement !== null) offer.parentElement.hidden = false;
  offer.addEventListener('click', () => {
    const field = offer.form?.elements.namedItem('zone');
    if (field instanceof HTMLInputElement) field.value = timeZone;
    offer.form?.requestSubmit();
  });
}

/** @type {EventSource | null} */
let source = null;
/** @type {number | undefined} */
let timer;
let refreshing = false;
let wanted = false;
let leaving = false;

/** Fetches this page again and morphs what differs. Ticks that come meanwhile ask for one more. */
async function refresh() {
  wanted = true;
  if (refreshing || leaving || document.hidden) return;
  refreshing = true;
  while (wanted && !leaving) {
    wanted = false;
    const text = await fetchPage();
    // The service is away, or the session has ended: the page stays as it is and says so.
    body.toggleAttribute('data-stale', text === null);
    if (text !== null) morph(new DOMParser().parseFromString(policy.createHTML(text), 'text/html'));
  }
  refreshing = false;
  plan();
}

/** @type {number | undefined} */
let again;

/** Where something is under way that no tick tells, the page says after how many seconds it is to be looked at again. */
function plan() {
  clearTimeout(again);
  const seconds = Number(document.querySelector('main')?.dataset.again);
  if (seconds > 0) again = setTimeout(() => void refresh(), seconds * 1_000);
}

/** This page as it is now; null when it cannot be had. */
async function fetchPage() {
  try {
    // Fetched by itself it is no use of the session, which ends when nobody uses it.
    const headers = { accept: 'text/html', 'x-qm-refetch': '1' };
    const response = await fetch(location.href, { headers, redirect: 'error' });
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
}

const callbacks = {
  // What somebody typed or chose, and what the plots drew, is no older state of the page.
  beforeNodeMorphed: (/** @type {Node} */ old, /** @type {Node} */ next) =>
    !isTyped(old) && !isDrawn(old) && !isSameFile(old, next),
  beforeAttributeUpdated: (/** @type {string} */ name, /** @type {Element} */ of) =>
    !(name === 'open' && (of.tagName === 'DETAILS' || of.tagName === 'DIALOG')),
};

/** @param {Document} next */
function morph(next) {
  const [here, there] = [document.querySelector('main'), next.querySelector('main')];
  if (here === null || there === null) return;
  if (leaving) {
    wanted = true;
    return;
  }
  // What a form did stays to be read until the page is left.
  const told = here.querySelector(':scope > .done');
  if (told !== null) there.prepend(told.cloneNode(true));
  idiomorph.morph(here, there, { morphStyle: 'outerHTML', ignoreActiveValue: true, callbacks });
  const [pages, nextPages] = [document.getElementById('pages'), next.getElementById('pages')];
  if (pages !== null && nextPages !== null) idiomorph.morph(pages, nextPages, { morphStyle: 'outerHTML', callbacks });
  document.dispatchEvent(new Event('morphed'));
}

/** @param {Node} node */
function isDrawn(node) {
  return node instanceof Element && node.classList.contains('drawn');
}

/**
 * Links to videos are signed anew each time: what plays, or has come, stays.
 * @param {Node} old @param {Node} next
 */
function isSameFile(old, next) {
  const isFile = (/** @type {Node} */ node) => node instanceof HTMLImageElement || node instanceof HTMLMediaElement;
  return isFile(old) && isFile(next) && new URL(old.src).pathname === new URL(next.src).pathname;
}

/** @param {Node} node */
function isTyped(node) {
  if (node instanceof HTMLTextAreaElement) return node.value !== node.defaultValue;
  if (node instanceof HTMLSelectElement)
    return [...node.options].some((o) => o.selected !== o.defaultSelected && node.matches(':focus'));
  if (!(node instanceof HTMLInputElement) || node.type === 'hidden') return false;
  return node.value !== node.defaultValue || node.checked !== node.defaultChecked;
}

function listen() {
  clearTimeout(timer);
  const { live } = body.dataset;
  if (live === undefined || document.hidden) return;
  source = new EventSource(live);
  source.onmessage = () => void refresh();
  source.onerror = () => {
    // Where there is no stream to be had the page is looked at now and then.
    const ended = source?.readyState === EventSource.CLOSED;
    source?.close();
    source = null;
    timer = setTimeout(() => void refresh().then(listen), (ended ? POLL_MS : RETRY_MS) * (1 + Math.random()));
  };
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) {
    clearTimeout(timer);
    source?.close();
    source = null;
  } else if (source === null && body.dataset.live !== undefined) void refresh().then(listen);
});
listen();
plan();

// A form is on its way: until the page is left, or was not left after all, nothing of it changes, so a second click sends the same form
// with the same idempotency key.
document.addEventListener('submit', ({ target }) => {
  if (!(target instanceof HTMLFormElement) || target.getAttribute('method') !== 'post') return;
  leaving = true;
  setTimeout(stay, LEAVES_MS);
});
addEventListener('pageshow', ({ persisted }) => persisted && stay());

function stay() {
  leaving = false;
  if (wanted) void refresh();
}

let leads = false;

document.addEventListener('keydown', (event) => {
  const { key, target } = event;
  const isTyping = target instanceof Element && target.closest('input, textarea, select, dialog') !== null;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || body.dataset.keys === undefined) return;
  if (leads) {
    leads = false;
    const link = document.querySelector(`nav a[data-key="${CSS.escape(key)}"]`);
    if (link instanceof HTMLElement) link.click();
    return;
  }
  if (key === 'g') leads = true;
  else if (key === '?') /** @type {HTMLDialogElement | null} */ (document.getElementById('keys'))?.showModal();
  else if (key === '/' && openPalette()) event.preventDefault();
  else if (key === 'j' || key === 'k') step(key === 'j' ? 1 : -1);
});

// The palette.
const palette = /** @type {HTMLDialogElement | null} */ (document.getElementById('palette'));
const FOUND_AFTER_MS = 150;
/** @type {number | undefined} */
let finding;
let asked = 0;

const keyHint = document.querySelector('.search kbd');
if (keyHint !== null && /^Mac|^iP/.test(navigator.platform)) keyHint.textContent = '⌘K';

/** Whether there is one. The browser gives the focus back when it closes. */
function openPalette() {
  if (palette === null) return false;
  if (!palette.open) palette.showModal();
  palette.querySelector('input')?.select();
  narrow();
  return true;
}

/** @returns {HTMLAnchorElement[]} */
function options() {
  return [...(palette?.querySelectorAll('a') ?? [])].filter(({ hidden }) => !hidden);
}

/** @param {HTMLAnchorElement | undefined} option */
function point(option) {
  for (const each of palette?.querySelectorAll('a') ?? []) each.ariaSelected = String(each === option);
  option?.scrollIntoView({ block: 'nearest' });
  const input = palette?.querySelector('input');
  if (option === undefined) input?.removeAttribute('aria-activedescendant');
  else {
    option.id ||= `option-${Math.random().toString(36).slice(2)}`;
    input?.setAttribute('aria-activedescendant', option.id);
  }
}

function said() {
  return palette?.querySelector('input')?.value.trim() ?? '';
}

/** Pages and acts with all the words at once, objects a moment later. */
function narrow() {
  const words = said().toLowerCase().split(/\s+/);
  for (const each of palette?.querySelectorAll('a') ?? []) {
    const text = each.textContent?.toLowerCase() ?? '';
    if (each.hasAttribute('data-object')) each.remove();
    else each.hidden = !words.every((word) => text.includes(word));
  }
  point(options()[0]);
  tell('');
  clearTimeout(finding);
  asked += 1;
  if (said() !== '') finding = setTimeout(() => void find(said(), asked), FOUND_AFTER_MS);
}

/** @param {string} text @param {number} ask */
async function find(text, ask) {
  const form = palette?.querySelector('form');
  if (!form) return;
  tell('Searching…');
  const response = await fetch(`${form.action}?as=jsonl&q=${encodeURIComponent(text)}`).catch(() => null);
  const lines = response?.ok ? (await response.text()).split('\n').filter((line) => line !== '') : null;
  // Somebody has typed on.
  if (ask !== asked) return;
  for (const line of lines ?? []) {
    const { kind, name, path } = JSON.parse(line);
    const [option, of] = [document.createElement('a'), document.createElement('span')];
    option.setAttribute('role', 'option');
    option.tabIndex = -1;
    option.href = path;
    option.dataset.object = kind;
    of.className = 'kind';
    of.textContent = kind;
    option.append(name, of);
    document.getElementById('found')?.append(option);
  }
  if (!options().some(({ ariaSelected }) => ariaSelected === 'true')) point(options()[0]);
  const count = options().length;
  tell(lines === null ? 'Objects could not be searched. Try again.' : count === 1 ? '1 result' : `${count} results`);
}

/** @param {string} text */
function tell(text) {
  const status = palette?.querySelector('[role=status]');
  if (status) status.textContent = text;
}

document.addEventListener('click', (event) => {
  const { target, ctrlKey, metaKey } = event;
  if (target === palette) palette?.close();
  if (!(target instanceof Element) || target.closest('[data-palette]') === null || ctrlKey || metaKey) return;
  if (openPalette()) event.preventDefault();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'k' && (event.ctrlKey || event.metaKey) && openPalette()) event.preventDefault();
});
palette?.addEventListener('input', narrow);
palette?.addEventListener('keydown', (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const all = options();
  const at = all.findIndex(({ ariaSelected }) => ariaSelected === 'true');
  if (by !== undefined) point(all[(at + by + all.length) % all.length]);
  else if (event.key === 'Enter' && at !== -1) all[at]?.click();
  else return;
  event.preventDefault();
});

/** Focus goes to the link of the next row. @param {number} by */
function step(by) {
  const rows = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('main tbody tr > :first-child a'));
  const at = [...rows].indexOf(/** @type {HTMLElement} */ (document.activeElement));
  rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}

document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Element) || !target.matches('[data-select-all]')) return;
  const boxes = /** @type {HTMLInputElement[]} */ ([
    ...(target.closest('form')?.querySelectorAll('tbody input[type=checkbox]') ?? []),
  ]);
  const isOn = target instanceof HTMLInputElement ? target.checked : boxes.some(({ checked }) => !checked);
  for (const box of boxes) box.checked = isOn;
});

// Browsers let pages copy at https and on this machine only: elsewhere the buttons stay hidden.
body.toggleAttribute('data-copies', navigator.clipboard !== undefined);
const COPIED_MS = 1_500;

document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest('button.copy') : null;
  const word = button?.firstChild;
  if (button === null || !(word instanceof Text)) return;
  try {
    await navigator.clipboard.writeText(button.previousElementSibling?.textContent ?? '');
    word.data = 'Copied';
  } catch {
    word.data = 'Not allowed';
  }
  setTimeout(() => {
    word.data = 'Copy';
  }, COPIED_MS);
});

// Files are sent one after the other, each as the body of a request; then the page is fetched again.
const files = document.querySelector('[data-upload]');
const chosen = files?.querySelector('input');
const told = document.querySelector('[data-upload-status]');
if (files instanceof HTMLElement && chosen !== undefined && chosen !== null && told !== null) {
  files.hidden = false;
  files.querySelector('button')?.addEventListener('click', () => chosen.click());
  chosen.addEventListener('change', async () => {
    const { upload, prefix = '', token = '' } = files.dataset;
    for (const file of chosen.files ?? []) {
      told.textContent = `Sending ${file.name}…`;
      const key = `${prefix}${file.name}`.split('/').map(encodeURIComponent).join('/');
      const headers = { 'x-form-token': token, 'content-type': file.type || 'application/octet-stream' };
      const reply = await fetch(`${upload}${key}`, { method: 'PUT', body: file, headers }).catch(() => null);
      if (reply?.ok !== true) {
        const failure = await reply?.json().catch(() => null);
        told.textContent = `${file.name}: ${failure?.error?.message ?? 'the service could not be reached.'}`;
        return;
      }
    }
    told.textContent = '';
    chosen.value = '';
    await refresh();
  });
}
