import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from './config.ts';

const keys = { ASSETS_ACCESS_KEY_ID: 'AKIA', ASSETS_SECRET_ACCESS_KEY: 'hush-hush' };
const place = (url: string) => loadConfig({ DATA_DIR: '/data', ASSETS_URL: url, ...keys }).assets;

describe('ASSETS_URL', () => {
  it('is a folder', () => {
    expect(place('file:///videos')).toEqual({ kind: 'folder', folder: '/videos' });
  });

  it('is a bucket at AWS, named before the host', () => {
    expect(place('s3://videos')).toEqual({
      kind: 's3',
      bucket: 'videos',
      prefix: '',
      endpoint: 'https://s3.us-east-1.amazonaws.com',
      region: 'us-east-1',
      pathStyle: false,
      accessKeyId: 'AKIA',
      secretAccessKey: 'hush-hush',
      workFolder: '/data/assets-work',
    });
    expect(place('s3://videos/?region=cn-north-1')).toMatchObject({
      endpoint: 'https://s3.cn-north-1.amazonaws.com.cn',
    });
  });

  it('is one elsewhere, named in the path unless told otherwise', () => {
    const url = 's3://videos/made/here/?endpoint=http://10.0.0.7:9000&region=garage';
    expect(place(url)).toMatchObject({ prefix: 'made/here/', endpoint: 'http://10.0.0.7:9000', pathStyle: true });
    expect(place('s3://videos?endpoint=https://oss.example.com&path_style=false')).toMatchObject({ pathStyle: false });
  });

  it.each([
    'https://videos',
    's3://Videos!',
    's3://videos/a%20b',
    's3://videos/.hidden',
    's3://AKIA:hush-hush@videos',
    's3://videos?endpoint=10.0.0.7',
    's3://videos?endpoint=https://x/path',
    's3://videos?region=a/b',
    's3://videos?path_style=yes',
    's3://videos?endpoint=http://10.0.0.7&path_style=false',
    's3://videos?pathstyle=true',
  ])('%s is refused with one line that names it and no secret', (url) => {
    const act = () => place(url);
    expect(act).toThrow(ConfigError);
    expect(act).toThrow(/^ASSETS_URL[^\n]+$/);
    expect(act).not.toThrow(/hush-hush/);
  });

  it('needs keys for a bucket', () => {
    const act = () => loadConfig({ ASSETS_URL: 's3://videos', ASSETS_ACCESS_KEY_ID: 'AKIA' });
    expect(act).toThrow(/ASSETS_ACCESS_KEY_ID and ASSETS_SECRET_ACCESS_KEY/);
  });
});
