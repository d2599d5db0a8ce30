// Address and key of the service to call: QM_URL and QM_KEY, else the profile that `qm login` wrote. A key is never sent to another service,
// nor over plain http to another machine.
import { readEnv } from '../../config/env.ts';
import { SettingError } from '../output.ts';
import { configPath, readIfThere, writeWhole } from './files.ts';

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const USUAL_URL = 'http://127.0.0.1:8787';

export interface Access {
  /** Without a trailing slash. */
  readonly url: string;
  readonly key: string;
  /** Where the key comes from: `QM_KEY`, or the path of the profile. */
  readonly source: string;
}

interface Profile {
  readonly url: string;
  readonly key: string;
}

export const profilePath = () => configPath('profile.json');

export async function saveProfile(profile: Profile): Promise<string> {
  await writeWhole(profilePath(), `${JSON.stringify(profile)}\n`);
  return profilePath();
}

/** Throws SettingError when no key is known, or none for that address. */
export async function access(): Promise<Access> {
  const { QM_KEY: key = '' } = readEnv();
  const profile = await readProfile();
  const url = addressOf(profile);
  if (key !== '') return { url, key: checkedKey(key, 'QM_KEY'), source: 'QM_KEY' };
  if (profile === null) throw new SettingError('no API key: run `qm login --url URL`, or set QM_KEY and QM_URL');
  if (profile.url !== url)
    throw new SettingError(`${profilePath()} has a key of ${profile.url}, not of QM_URL: set QM_KEY, or log in there`);
  return { ...profile, key: checkedKey(profile.key, profilePath()), source: profilePath() };
}

/** The address alone, for what needs no key. */
export async function address(): Promise<string> {
  return addressOf(await readProfile());
}

function addressOf(profile: Profile | null): string {
  const { QM_URL = '' } = readEnv();
  return QM_URL === '' ? (profile?.url ?? USUAL_URL) : serviceUrl(QM_URL, 'QM_URL');
}

/** @param name of the setting, for the message. Throws SettingError. */
export function serviceUrl(text: string, name: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.search !== '')
    throw new SettingError(`${name} must be the address of a service, such as https://qm.example.com`);
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname))
    throw new SettingError(`${name} must be https, or lead to this machine`);
  return `${url.origin}${url.pathname.replace(/(\/v1)?\/*$/, '')}`;
}

/** What cannot stand in a header is no key; it is not repeated. */
function checkedKey(text: string, source: string): string {
  const key = text.trim();
  if (/^[\x21-\x7e]{1,1024}$/.test(key)) return key;
  throw new SettingError(`${source} holds no API key: it has characters that no key has`);
}

async function readProfile(): Promise<Profile | null> {
  const text = await readIfThere(profilePath());
  if (text === null) return null;
  try {
    const { url, key } = JSON.parse(text) as Partial<Profile>;
    if (typeof url === 'string' && typeof key === 'string') return { url: serviceUrl(url, profilePath()), key };
  } catch (error) {
    if (error instanceof SettingError) throw error;
  }
  throw new SettingError(`${profilePath()} is damaged: run \`qm login\` again`);
}
