// Decides by its name (of a member, a header, a parameter, a variable) if a value is a secret. Names are compared word by word, so that
// `author`, `tokenizer` and `keyboard` do not match `auth`, `token` and `key`.

/** What the value of a name is. LINE: a secret that, as text behind a colon, runs to the end of the line (cookies). */
export const NAME = { plain: 0, weak: 1, secret: 2, line: 3, personal: 4 } as const;
export type NameKind = (typeof NAME)[keyof typeof NAME];

const NAME_CHARACTERS_MAX = 128;
const SLOTS = 4_096;
/** A longer slice of a text keeps the whole text in memory. */
const COPIED_CHARACTERS_MAX = 12;

// The same few hundred names come again and again: 20 ns instead of 300. Each name has one slot, and the latest one holds it, so
// that a flood of new names costs no more than their classification.
const heldNames = new Array<string>(SLOTS).fill('');
const heldKinds = new Uint8Array(SLOTS);

/**
 * Kind of a name, by its words. `weak` counts only for texts and numbers, and in running text only behind `=` or before quotes;
 * `personal` (e-mail and network addresses) only where personal data is scrubbed. `isOwn`: the name is a text by itself, not a
 * slice of a longer one.
 */
export function kindOfName(name: string, isOwn = false): NameKind {
  const slot = slotOf(name);
  if (heldNames[slot] === name) return heldKinds[slot] as NameKind;
  const kind = classify(name, isOwn);
  if (name.length <= (isOwn ? NAME_CHARACTERS_MAX : COPIED_CHARACTERS_MAX)) {
    heldNames[slot] = name;
    heldKinds[slot] = kind;
  }
  return kind;
}

function slotOf(name: string): number {
  const { length } = name;
  if (length < 2) return 0;
  const ends = name.charCodeAt(0) * 31 + name.charCodeAt(length - 1) * 7 + name.charCodeAt(length - 2) * 131;
  return (ends + name.charCodeAt(length >> 1) * 521 + length * 1_031) & (SLOTS - 1);
}

const STEM =
  /pass|pwd|pw$|kennwort|secret|token|key|auth|cookie|cred|sess|sid$|csrf|xsrf|jwt|bearer|otp|pin|cv[cv]|csc|ssn|sig|mnemonic|seed|code|card|pan$|cc.?n|mail|ip|addr|[^\0-\x7f]/i;
const NOT_ASCII = /[^\0-\x7f]/;
const TEXT_STEM =
  /pass|pwd|pw|kennwort|secret|token|key|auth|cookie|cred|sess|sid|csrf|xsrf|jwt|bearer|otp|pin|cv[cv]|csc|ssn|sig|mnemonic|code|phrase|card|cc.?n|pan/i;

/** Whether a name of a secret may stand in the text: 1 to 3 ms for a megabyte, where looking at every separator takes 30. */
export const mayNameSecret = (text: string) => TEXT_STEM.test(text);

const FOREIGN = /пароль|密码|密碼|パスワード|비밀번호|contraseña|clé[ _-]?secrète/iu;

function classify(name: string, isOwn: boolean): NameKind {
  if (!STEM.test(name)) return NAME.plain;
  // Names in running text are ASCII.
  if (isOwn && NOT_ASCII.test(name) && FOREIGN.test(name)) return NAME.secret;
  const words = wordsOf(name.length > NAME_CHARACTERS_MAX ? name.slice(-NAME_CHARACTERS_MAX) : name);
  const at = lastSecretWord(words);
  if (at >= 0) {
    if (isDescribed(words, at)) return NAME.plain;
    const word = words[at] as string;
    return (word === 'authorization' || word.endsWith('cookie') || word === 'cookies') && at === words.length - 1
      ? NAME.line
      : NAME.secret;
  }
  if (isWeak(words)) return NAME.weak;
  return isPersonal(words) ? NAME.personal : NAME.plain;
}

/** The words of a name in lower case: `OAuthToken2` is `o auth token`, `DB_PASS` is `db pass`. */
function wordsOf(name: string): string[] {
  const words: string[] = [];
  let start = 0;
  let before = OTHER;
  let capital = false;
  for (let i = 0; i <= name.length; i += 1) {
    const kind = i < name.length ? kindOf(name.charCodeAt(i)) : OTHER;
    // The last capital before small letters begins the next word: `APIKey`.
    const begins = kind === SMALL && before === CAPITAL && i - start > 1;
    if (begins || (kind !== before && !(kind === SMALL && before === CAPITAL))) {
      const end = begins ? i - 1 : i;
      if (before === SMALL && !capital) words.push(name.slice(start, end));
      else if (before !== OTHER && before !== DIGIT && end > start) words.push(name.slice(start, end).toLowerCase());
      capital = begins;
      start = end;
    }
    if (kind === CAPITAL) capital = true;
    before = kind;
  }
  return words;
}

const OTHER = 0;
const SMALL = 1;
const CAPITAL = 2;
const DIGIT = 3;

function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return SMALL;
  if (code >= 65 && code <= 90) return CAPITAL;
  return code >= 48 && code <= 57 ? DIGIT : OTHER;
}

function lastSecretWord(words: readonly string[]): number {
  for (let i = words.length - 1; i >= 0; i -= 1) if (isSecretAt(words, i)) return i;
  return -1;
}

function isSecretAt(words: readonly string[], i: number): boolean {
  const word = words[i] as string;
  if (word.length < 2) return false;
  const before = words[i - 1] ?? '';
  if (secretWords.has(word) || (word.length > 5 && secretEnding.test(word))) return true;
  if (word === 'key' || word === 'keys') return keyOwners.has(before);
  if (word === 'code' || word === 'codes') return codeOwners.has(before);
  if (word === 'number' || word === 'num' || word === 'no') return before === 'card' || before === 'cc';
  if (word === 'id' || word === 'hash') return before === 'session' || before === 'sess';
  if (word === 'card') return before === 'credit' || before === 'debit';
  if (word === 'phrase') return before === 'pass' || before === 'seed' || before === 'recovery';
  return word === 'word' && before === 'pass';
}

/** `token_type`, `passwordLength`, `max_tokens`, `cookieConsentShown`, `has_secret`: about a secret, not the secret. */
function isDescribed(words: readonly string[], at: number): boolean {
  const first = words[0] as string;
  if (at > 0 && (first === 'is' || first === 'has' || first === 'should' || first === 'needs')) return true;
  if (hasAny(words, at + 1, words.length, describing)) return true;
  return (words[at] === 'tokens' || words[at] === 'token') && hasAny(words, 0, at, quantities);
}

function hasAny(words: readonly string[], from: number, to: number, among: ReadonlySet<string>): boolean {
  for (let i = from; i < to; i += 1) if (among.has(words[i] as string)) return true;
  return false;
}

function isWeak(words: readonly string[]): boolean {
  const last = words.at(-1) as string | undefined;
  if (last === undefined) return false;
  if (last === 'pass' || last === 'auth' || last === 'pin' || last === 'signature' || last === 'sig') return true;
  return words.length <= 2 && idNames.has(last) && (words.length === 1 || words[0] === 'connect');
}

function isPersonal(words: readonly string[]): boolean {
  const last = words.at(-1);
  const before = words.at(-2);
  if (last === 'email' || last === 'emails' || last === 'ip' || last === 'ips') return true;
  if (last === 'mail') return before === 'e' || words.length === 1;
  if (last === 'address' || last === 'addr')
    return before === 'email' || before === 'ip' || before === 'mail' || before === 'remote';
  return last === 'for' && before === 'forwarded';
}

// The words that names are judged by, in lower case.

const list = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

/** A name with one of these is a secret. */
export const secretWords = list(
  `password passwords passwd passwds passwort kennwort passphrase passcode pwd secret secrets token tokens apikey apikeys
   authorization cookie cookies credential credentials creds cred jwt jwts bearer csrf xsrf otp totp cvv cvc csc ssn mnemonic
   privatekey secretkey accesskey signingkey encryptionkey accountkey masterkey sshkey sentrykey sharedaccesskey sessionid sessid phpsessid jsessionid
   aspsessionid sessionkey authkey dbpass userpass creditcard cardnumber ccnumber ccnum pan pincode`,
);

/** So is one that has a word with such an end: `csrftoken`, `pgpassword`. */
export const secretEnding = /(?:password|passwd|passphrase|secret|tokens?|apikey|cookie|sessionid)$/;

/** Whose `key` is a secret; a primary, public, cache or sort key is none. */
export const keyOwners = list(
  `api access secret private encryption encrypt decryption signing sign ssh account master auth authorization service shared deploy
   license sentry storage admin root client server session hmac aes rsa webhook webhooks integration app application subscription function host
   qm quartermaster openai anthropic stripe aws gcp azure google gemini mistral groq sendgrid twilio mailgun github gitlab slack
   datadog newrelic algolia maps firebase supabase pinecone cohere deepseek`,
);

export const codeOwners = list(
  'verification recovery backup mfa fa auth authorization security login sms reset pass pin',
);

/** Behind the word of the secret they say that the value is about it. */
export const describing = list(
  `count counts counter max maximum min minimum total limit limits length len size used usage type types kind name names expires
   expire expiry expired expiration ttl at age valid invalid validity required missing present exists enabled disabled shown
   accepted consent policy strength attempts retries remaining budget per price cost url uri endpoint path file domain banner version method
   provider scope scopes issuer audience algorithm alg format index position offset start status error errors reason message changed
   updated created rotated rotation locale settings preference preferences rate timeout duration bucket window in on`,
);

/** Before `tokens` they say that tokens are counted. */
export const quantities = list(
  'max maximum min minimum total num number count prompt completion input output cached reasoning used remaining budget context estimated n',
);

/** Secret as a whole name only. */
export const idNames = list('sid session pw pass auth pin sig signature');
