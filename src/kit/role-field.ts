// The role of a person in answers.
import Type from 'typebox';
import { roles, roleTexts } from '../people/roles.ts';

export const roleField = Type.Enum([...roles], {
  description: `What the person may do. ${roles.map((role) => `\`${role}\`: ${roleTexts[role]}`).join('; ')}.`,
});
