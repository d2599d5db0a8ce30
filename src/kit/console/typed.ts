// Confirmation pages of acts that cannot be undone. Each states the effect in numbers, and its form requires the name or id of what it ends.
import { type Html, html } from '../../lib/html.ts';
import { invalidField } from '../../problems/problem.ts';
import { actForm, field } from './form.ts';
import type { Act, ConsolePage } from './page.ts';
import { short } from './text.ts';
import type { Callable, Input, Visit } from './visit.ts';

/** A longer name is no easier to type than the ID. */
const NAME_CHARACTERS_MAX = 100;

/** `what`: "revoke the key". Throws VALIDATION_FAILED where something else was typed. */
export function requireTyped(form: URLSearchParams, wanted: string, what: string): void {
  if (typedIn(form) !== wanted) throw invalidField('typed', 'equal', `Type ${wanted} to ${what}.`);
}

function typedIn(form: URLSearchParams): string | undefined {
  return form.get('typed')?.trim();
}

interface TypedForm {
  readonly wanted: string;
  /** What may be typed in its place, where it has a name for people. */
  readonly name?: string | null;
  /** What stands on it. */
  readonly button: string;
  /** Fields above and below the typed one. */
  readonly before?: Html;
  readonly after?: Html;
}

/** The form of the act. */
export function typedForm(visit: Visit, act: string, { wanted, name = null, button, before, after }: TypedForm): Html {
  const typed = field(visit, act, {
    name: 'typed',
    label: `Type ${name ?? wanted}`,
    ...(name === null ? {} : { hint: `Or its ID, ${wanted}.` }),
    isRequired: true,
    attributes: html`autocomplete="off" spellcheck="false" autocapitalize="off"`,
  });
  return actForm(visit, act, html`${before ?? ''}${typed}${after ?? ''}<button class="danger">${button}</button>`);
}

interface TypedPage extends Pick<ConsolePage, 'name'>, Pick<Act, 'done' | 'next' | 'answerView'> {
  /** Below /console. Its last parameter names what ends. */
  readonly path: string;
  /** Who may call it sees the page. */
  readonly capability: Pick<Callable, 'id'>;
  /** Its field that names what ends; called as the parameter when absent. */
  readonly field?: string;
  /** The whole input, where it is more than that field. */
  input?(form: URLSearchParams, visit: Visit): Input;
  /** Name of the act: `revoke`. */
  readonly act: string;
  /** `revoke the key`: why something is to be typed. */
  readonly what: string;
  readonly button: string;
  readonly title: string;
  /** What is to be typed; the parameter when absent. */
  wanted?(visit: Visit): string;
  /** A name that may be typed in its place. Throws the Problem of what is not there. */
  nameOf?(visit: Visit): Promise<string | null>;
  /** What the page says. Throws the Problem of what is not there. */
  about(visit: Visit): Promise<TypedText>;
}

/** One, or several. */
export type Paragraphs = Html | string | readonly (Html | string)[];

interface TypedText extends Pick<TypedForm, 'before' | 'after'> {
  /** Where one comes from; its path is below /console. */
  readonly back: { readonly label: string; readonly path: string };
  /** The title when absent. */
  readonly heading?: Html | string;
  /** What is gone afterwards, in numbers, and what stays. */
  readonly text: Paragraphs;
}

/** The page of an act that cannot be undone. */
export function typedPage({ name, path, capability, act, title, what, button, about, ...of }: TypedPage): ConsolePage {
  const parameter = /\{(\w+)\}[^{]*$/.exec(path)?.[1] ?? '';
  const idOf = ({ params }: Visit) => params[parameter] ?? '';
  const wantedOf = (visit: Visit) => (of.wanted?.(visit) ?? idOf(visit)).trim();
  const nameOf = async (visit: Visit) => {
    const typedName = (await of.nameOf?.(visit))?.trim() ?? '';
    const isUsable = typedName !== '' && typedName !== wantedOf(visit) && typedName.length <= NAME_CHARACTERS_MAX;
    return isUsable ? typedName : null;
  };
  return {
    name,
    path,
    needs: capability,
    async show(visit) {
      const [{ back, heading = title, text, ...fields }, typedName] = await Promise.all([about(visit), nameOf(visit)]);
      const content = html`<p><a href="${visit.path(back.path)}">${short(back.label, 100)}</a></p>
<h1>${heading}</h1>
${[text].flat().map((paragraph) => html`<p>${paragraph}</p>\n`)}
${typedForm(visit, act, { wanted: wantedOf(visit), name: typedName, button, ...fields })}`;
      return { title, content };
    },
    acts: {
      [act]: {
        capability,
        async input(form, visit) {
          if (typedIn(form) !== wantedOf(visit)) requireTyped(form, (await nameOf(visit)) ?? wantedOf(visit), what);
          return of.input?.(form, visit) ?? { [of.field ?? parameter]: idOf(visit) };
        },
        done: of.done,
        next: of.next,
        answerView: of.answerView,
      },
    },
  };
}

interface Deletion extends Pick<TypedPage, 'name' | 'path' | 'capability' | 'field' | 'nameOf' | 'about'> {
  /** `inbox` */
  readonly noun: string;
  /** `Delete the inbox` when absent. */
  readonly title?: string;
  /** `Inbox deleted.` when absent. */
  readonly done?: string;
  /** Path below /console of the page that follows. */
  readonly next: string;
}

/** The page that deletes one. */
export function deletionPage({ noun, title, done, next, about, ...of }: Deletion): ConsolePage {
  const usual = `Delete the ${noun}`;
  return typedPage({
    ...of,
    act: 'delete',
    title: title ?? usual,
    what: `delete the ${noun}`,
    button: 'Delete',
    done: done ?? `${noun[0]?.toUpperCase()}${noun.slice(1)} deleted.`,
    next: () => next,
    async about(visit) {
      const { heading = usual, ...text } = await about(visit);
      return { heading, ...text };
    },
  });
}
