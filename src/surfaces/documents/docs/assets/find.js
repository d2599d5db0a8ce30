// @ts-check
// The index and the ranking of the documentation's search: the same in browsers and in tests.

/** @typedef {{ id: string, title: string, kind: string, words: string, text: string, weight: number }} Entry */
/** @typedef {{ id: string, title: string, kind: string }} Found */
/** @typedef {{ search(text: string): Found[], addAll(entries: readonly Entry[]): void }} Index */

const RESULTS_MAX = 12;
/** Of one page: another section of it says less than another page. */
const PAGE_RESULTS_MAX = 2;

/** Words of questions that no page is about. */
const FILLERS = new Set(
  'a an and are at by can cannot do does for from get have how i if in into is it its me my of on or our out s so that the their there they this to use was we what when where which who whom whose why will with you your'.split(
    ' ',
  ),
);

/** "limits" and "limit", "verifying" and "verify" are one word. @param {string} word */
function stem(word) {
  const text = word.toLowerCase();
  if (FILLERS.has(text)) return null;
  if (text.length < 5) return text.length === 4 && /[^s]s$/.test(text) ? text.slice(0, -1) : text;
  const base = text.replace(/(?:ies|y)$/, 'i').replace(/(?:sses)$/, 'ss');
  const singular = /[^siu]s$/.test(base) ? base.slice(0, -1) : base;
  const bare = singular.replace(/(?:ing|ed)$/, '');
  return (bare.length < 3 ? singular : bare).replace(/e$/, '');
}

/**
 * @param {new (options: object) => Index} MiniSearch
 * @param {readonly Entry[]} entries
 */
export function indexOf(MiniSearch, entries) {
  const index = new MiniSearch({
    fields: ['title', 'words', 'text'],
    storeFields: ['title', 'kind', 'weight'],
    processTerm: stem,
    searchOptions: {
      boost: { title: 4, words: 3 },
      prefix: (/** @type {string} */ _term, /** @type {number} */ i, /** @type {string[]} */ terms) =>
        i === terms.length - 1 && (terms[i] ?? '').length > 1,
      fuzzy: (/** @type {string} */ term) => (term.length > 4 ? 0.2 : false),
      boostDocument: (
        /** @type {string} */ _id,
        /** @type {string} */ _term,
        /** @type {{ weight: number }} */ { weight },
      ) => weight,
    },
  });
  index.addAll(entries);
  return index;
}

/** The best first; what is named so comes before all. @param {Index} index @param {string} text */
export function find(index, text) {
  const name = text.trim().toLowerCase();
  const found = index.search(text);
  const isNamed = (/** @type {Found} */ { title }) => title.toLowerCase() === name;
  const ordered = [...found.filter(isNamed), ...found.filter((each) => !isNamed(each))];
  /** @type {Map<string, number>} */
  const counts = new Map();
  const few = ordered.filter(({ id }) => {
    const page = id.replace(/#.*/, '');
    const count = (counts.get(page) ?? 0) + 1;
    counts.set(page, count);
    return count <= PAGE_RESULTS_MAX;
  });
  return few.slice(0, RESULTS_MAX);
}
