import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from './config.ts';

const s3 = (env: Record<string, string>) => loadConfig({ BASE_URL: 'https://qm.example.com', ...env }).s3;

describe('addresses of S3', () => {
  it('are none unless they are set', () => {
    expect(s3({})).toEqual({ port: null, domain: null });
  });

  it('are a port and a host', () => {
    expect(s3({ S3_PORT: '9000', S3_DOMAIN: 'S3.example.com' })).toEqual({ port: 9000, domain: 's3.example.com' });
  });

  it.each([
    [{ S3_PORT: '0' }, /^S3_PORT must be a whole number from 1/],
    [{ S3_PORT: '8787' }, /^S3_PORT must be another port than PORT/],
    [{ S3_DOMAIN: 'https://s3.example.com' }, /^S3_DOMAIN must be a host name/],
    [{ S3_DOMAIN: 's3.example.com:443' }, /^S3_DOMAIN must be a host name/],
    [{ S3_DOMAIN: 's3' }, /^S3_DOMAIN must be a host name/],
    [{ S3_DOMAIN: '10.0.0.7' }, /^S3_DOMAIN must be a host name/],
    [{ S3_DOMAIN: 'qm.example.com' }, /^S3_DOMAIN must be another host/],
    [{ S3_DOMAIN: 'example.com' }, /^S3_DOMAIN must be another host/],
  ])('%o are refused', (env, message) => {
    const read = () => s3(env as unknown as Record<string, string>);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(message);
  });
});
