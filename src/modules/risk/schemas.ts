// Fields and records that several operations of risk share.
import Type from 'typebox';
import { instant, orNull } from '../../kit/fields.ts';
import { type Action, actions, LABEL_CHARACTERS_MAX } from './limits.ts';
import { KEY_PATTERN } from './signals/keys.ts';

export const whole = (description: string) => Type.Integer({ minimum: 0, description });

const label = (description: string) =>
  Type.Optional(
    orNull<string>(
      { type: 'string', minLength: 1, maxLength: LABEL_CHARACTERS_MAX, pattern: '^[^\\p{Cc}\\p{Cs}]*$' },
      description,
    ),
  );

export const keyFields = {
  ip: label('Network address of the person, IPv4 or IPv6; of IPv6 the /64 counts.'),
  email: label('E-mail address; the mailbox counts, whatever its case and +tag.'),
  user_id: label('Your id of the user.'),
  device_id: label('Your id of the device.'),
};

export const keyField = Type.String({
  ...{ maxLength: 32, pattern: KEY_PATTERN },
  description: 'A keyed hash that an answer showed, such as `user_…`.',
});

const reasonSchema = Type.Object({
  rule: Type.String({ description: 'Id of a rule that matched; `list:allow` or `list:block` where an entry decided.' }),
  points: Type.Integer({ description: 'What it added.' }),
  detail: Type.String({ description: 'Its description, and the values of the signals that it looks at.' }),
});

export const verdictFields = {
  risk_id: Type.String({ description: 'Id of the decision.' }),
  score: Type.Integer({ minimum: 0, maximum: 100, description: 'Sum of the points, from 0 to 100.' }),
  action: Type.Unsafe<Action>({
    ...{ type: 'string', enum: [...actions], description: 'By the thresholds, or by a list entry alone.' },
  }),
  reasons: Type.Array(reasonSchema, { description: 'Every rule that matched, in the order of the rules.' }),
};

export const decisionSchema = Type.Object({
  ...verdictFields,
  event: Type.String({ description: 'What the person did.' }),
  keys: Type.Array(Type.String(), { description: 'Keyed hashes of what was sent.' }),
  created_at: instant('When it was scored.'),
});
