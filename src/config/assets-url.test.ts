import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from './config.ts';

const keys = { ASSETS_ACCESS_KEY_ID: 'AKIA', ASSETS_SECRET_ACCESS_KEY: 'hush-hush' };
const place = (url: string) => loadConfig({ DATA_DIR: '/data', ASSETS_URL: url, ...keys }).assets;

describe('ASSETS_URL', () => {
  it('is a folder', () => {
    expect(place('file:///films')).toEqual({ kind: 'folder', folder: '/films' });
  });

  it('is a bucket at AWS, named before the host', () => {
    expect(place('s3://films')).toEqual({
      kind: 's3',
      bucket: 'films',
      prefix: '',
      endpoint: 'https://s3.us-east-1.amazonaws.com',
      region: 'us-east-1',
      pathStyle: false,
      accessKeyId: 'AKIA',
      secretAccessKey: 'hush-hush',
      workFolder: '/data/assets-work',
    });
    expect(place('s3://films/?region=cn-north-1')).toMatchObject({
      endpoint: 'https://s3.cn-north-1.amazonaws.com.cn',
    });
  });

  it('is one elsewhere, named in the path unless told otherwise', () => {
    const url = 's3://films/made/here/?endpoint=http://10.0.0.7:9000&region=garage';
    expect(place(url)).toMatchObject({ prefix: 'made/here/', endpoint: 'http://10.0.0.7:9000', pathStyle: true });
    expect(place('s3://films?endpoint=https://oss.example.com&path_style=false')).toMatchObject({ pathStyle: false });
  });

  it.each([
    'https://films',
    's3://Films!',
    's3://films/a%20b',
    's3://films/.hidden',
    's3://AKIA:hush-hush@films',
    's3://films?endpoint=10.0.0.7',
    's3://films?endpoint=https://x/path',
    's3://films?region=a/b',
    's3://films?path_style=yes',
    's3://films?endpoint=http://10.0.0.7&path_style=false',
    's3://films?pathstyle=true',
  ])('%s is refused with one line that names it and no secret', (url) => {
    const act = () => place(url);
    expect(act).toThrow(ConfigError);
    expect(act).toThrow(/^ASSETS_URL[^\n]+$/);
    expect(act).not.toThrow(/hush-hush/);
  });

  it('needs keys for a bucket', () => {
    const act = () => loadConfig({ ASSETS_URL: 's3://films', ASSETS_ACCESS_KEY_ID: 'AKIA' });
    expect(act).toThrow(/ASSETS_ACCESS_KEY_ID and ASSETS_SECRET_ACCESS_KEY/);
  });
});
