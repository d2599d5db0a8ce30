// Form fields that choose the access of a key: full access, read only, one module, or module by module. An empty choice never means full access:
// it is refused. The choices of modules are sent as `scope`, one field a module.

import { levelsOf, type ModuleLevels } from '../../core/callers/scopes.ts';
import { type Html, html } from '../../lib/html.ts';
import { invalidField } from '../../problems/problem.ts';
import { field, sentOf } from './form.ts';
import type { Visit } from './visit.ts';

const ALL = 'all';
const READ = 'read';
const ONE = 'one';
const CHOSEN = 'chosen';

/**
 * The picker of a form: read what it sent by `scopesOf`. What is not chosen is hidden by the style; without `:has` all of it stands there.
 * @param scopes as they are; null: full access; none: nothing is chosen yet
 */
export function scopesField(visit: Visit, act: string, scopes: readonly string[] | null): Html {
  const { modules, refused } = visit;
  const sent = refused?.act === act ? refused.form : null;
  const chosen = sent === null ? (scopes ?? []) : pickedScopes(sent);
  const access = sentOf(visit, act, 'access') ?? presetOf(modules, scopes);
  const preset = (value: string, name: string, hint: string) =>
    html`<label class="choice"><input type="radio" name="access" value="${value}"${access === value ? html` checked` : ''}><span>${name} <span class="quiet">${hint}</span></span></label>`;
  const single = field(visit, act, {
    name: 'scopes',
    label: 'Single operations',
    value: otherScopes(modules, chosen).join(' '),
    hint: 'IDs separated by spaces, such as errors.capture.',
    attributes: html`spellcheck="false" autocapitalize="off"`,
  });
  return html`<fieldset class="scopes presets"><legend>Access</legend>
${preset(ALL, 'Full access', 'All modules, including those added later.')}
${preset(READ, 'Read only', 'Reads in every module, changes nothing.')}
${preset(ONE, 'One module', 'Nothing in any other.')}
${preset(CHOSEN, 'Custom', 'Choose module by module.')}
<div class="preset-one">${oneModule(act, modules, sent?.get('one') ?? chosen[0] ?? '')}</div>
<div class="preset-chosen">${scopePicker(act, modules, chosen)}${single}</div></fieldset>`;
}

/** The scopes that the form chooses; none: full access. Throws VALIDATION_FAILED where nothing was chosen. */
export function scopesOf(form: URLSearchParams, { modules }: Pick<Visit, 'modules'>): string[] {
  const access = form.get('access');
  if (access === ALL) return [];
  if (access === READ) return readScopes(modules);
  const typed = (form.get('scopes') ?? '').split(/[\s,]+/).filter((scope) => scope !== '');
  const scopes =
    access === ONE ? [form.get('one') ?? ''].filter((scope) => scope !== '') : [...pickedScopes(form), ...typed];
  if (scopes.length > 0) return scopes;
  throw invalidField('scopes', 'minItems', 'Choose access to at least one module, or full access.');
}

/** Reading, where a module has it. */
function readScopes(modules: readonly ModuleLevels[]): string[] {
  return modules.flatMap(({ levels }) => levels.find((level) => level.endsWith(':read')) ?? []);
}

function presetOf(modules: readonly ModuleLevels[], scopes: readonly string[] | null): string {
  if (scopes === null) return ALL;
  const reads = readScopes(modules);
  if (scopes.length === reads.length && reads.every((scope) => scopes.includes(scope))) return READ;
  return CHOSEN;
}

function oneModule(act: string, modules: readonly ModuleLevels[], here: string): Html {
  const options = ({ module, levels }: ModuleLevels) =>
    html`<optgroup label="${module}">${levels.map((scope) => html`<option value="${scope}"${scope === here ? html` selected` : ''}>${module}: ${levelText(scope)}</option>`)}</optgroup>`;
  return html`<div class="field"><label for="${act}-one">Module</label><select id="${act}-one" name="one">${modules.map(options)}</select></div>`;
}

/** One choice a module, none at first. @param id begins the ids of the fields */
export function scopePicker(id: string, modules: readonly ModuleLevels[], chosen: readonly string[]): Html {
  const row = ({ module, levels }: ModuleLevels) => {
    const here = chosenLevel(module, chosen);
    const option = (scope: string) =>
      html`<option value="${scope}"${scope === here ? html` selected` : ''}>${levelText(scope)}</option>`;
    return html`<div class="pick"><label for="${id}-${module}">${module}</label><select id="${id}-${module}" name="scope"><option value="">no access</option>${levels.map(option)}</select></div>
`;
  };
  return html`${modules.map(row)}`;
}

/** The scopes that were chosen module by module. */
export function pickedScopes(form: URLSearchParams): string[] {
  return form.getAll('scope').filter((scope) => scope !== '');
}

/** Those that the picker of these modules cannot show: single operations, planned modules, more than one of a module. */
function otherScopes(modules: readonly ModuleLevels[], scopes: readonly string[]): string[] {
  const shown = new Set(modules.map(({ module }) => chosenLevel(module, scopes)));
  return scopes.filter((scope) => !shown.has(scope));
}

/** The widest of the module. */
function chosenLevel(module: string, scopes: readonly string[]): string | undefined {
  return levelsOf(module).findLast((level) => scopes.includes(level));
}

function levelText(scope: string): string {
  const [module, kind] = scope.split(':');
  if (kind === 'read') return 'read';
  if (kind === 'write') return module === 'account' ? 'read and write, except keys' : 'read and write';
  return module === 'account' ? 'everything, including creating keys' : 'everything';
}
