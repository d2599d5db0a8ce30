// The words that names.ts goes by, in lower case.
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
