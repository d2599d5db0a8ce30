// Text of VENDORS_FILE, read once by the first process of a service.
import { type Config, ConfigError } from './config.ts';
import { readShortText } from './short-text.ts';

const FILE_BYTES_MAX = 1024 * 1024;

/** Null when there is no such file. Throws ConfigError for one that the operator names, or that cannot be read. */
export function readVendorsText(config: Pick<Config, 'vendorsFile' | 'isVendorsFileNamed'>): string | null {
  try {
    return readShortText(config.vendorsFile, FILE_BYTES_MAX);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // A DATA_DIR that is no folder is told by whoever needs it.
    if ((code === 'ENOENT' || code === 'ENOTDIR') && !config.isVendorsFileNamed) return null;
    throw new ConfigError(`VENDORS_FILE cannot be read: ${message}`);
  }
}
