// How far a key may go in each module, as a form asks for it: one choice a module, none at first. Sent as `scope`, once a module.

import { levelsOf, type ModuleLevels } from '../../core/scopes.ts';
import { type Html, html } from '../../lib/html.ts';

/** @param id begins the ids of the fields */
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

/** The scopes that were chosen. */
export function pickedScopes(form: URLSearchParams): string[] {
  return form.getAll('scope').filter((scope) => scope !== '');
}

/** Those that the picker of these modules cannot show: single operations, planned modules, more than one of a module. */
export function otherScopes(modules: readonly ModuleLevels[], scopes: readonly string[]): string[] {
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
  if (kind === 'write') return module === 'account' ? 'read and write, but no keys' : 'read and write';
  return module === 'account' ? 'everything, also making keys' : 'everything';
}
