import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TasksEnv } from './context.ts';
import { type PublicFiles, publicFiles } from './static-files.ts';

const style = 'body { color: black; }\n'.repeat(50);
let folder: string;
let files: PublicFiles;
const app = new Hono<TasksEnv>().get('/public/*', (c) => files.respond(c) ?? c.notFound());

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longhand-public-'));
  await mkdir(join(folder, 'public/images'), { recursive: true });
  await writeFile(join(folder, 'secret.txt'), 'secret');
  await writeFile(join(folder, 'public/style.css'), style);
  await writeFile(join(folder, 'public/images/dot.svg'), '<svg/>');
  await writeFile(join(folder, 'public/.env'), 'secret');
  await mkdir(join(folder, 'public/.git'));
  await writeFile(join(folder, 'public/.git/config'), 'secret');
  files = publicFiles(join(folder, 'public'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('GET /public/<file path>', () => {
  test.each([
    ['/public/style.css', 'text/css; charset=utf-8', style],
    ['/public/images/dot.svg', 'image/svg+xml; charset=utf-8', '<svg/>'],
    ['/public/st%79le.css', 'text/css; charset=utf-8', style],
  ])('%s is the file, with its type', async (path, type, content) => {
    const response = await app.request(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(await response.text()).toBe(content);
  });

  test.each([
    '/public/',
    '/public/images',
    '/public/images/',
    '/public/nothing.css',
    '/public/.env',
    '/public/%2eenv',
    '/public/.git/config',
    '/public/..%2fsecret.txt',
    '/public/%2e%2e/secret.txt',
    '/public/%2e%2e%2fsecret.txt',
    '/public/%252e%252e%252fsecret.txt',
    '/public/..%5csecret.txt',
    '/public/images/..%2f..%2fsecret.txt',
    '/public/%c0%ae%c0%ae/secret.txt',
    '/public//etc/passwd',
    '/public/style.css%00',
    '/public/%',
  ])('%s is 404', async (path) => {
    expect((await app.request(path)).status).toBe(404);
  });

  test.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('%s is used where the client takes it and it is smaller', async (coding, decompress) => {
    const response = await app.request('/public/style.css', {
      headers: { 'Accept-Encoding': `x, ${coding};q=0.5` },
    });
    expect(response.headers.get('content-encoding')).toBe(coding);
    expect(response.headers.get('vary')).toBe('Accept-Encoding');
    expect(decompress(await response.arrayBuffer()).toString()).toBe(style);
    const small = await app.request('/public/images/dot.svg', { headers: { 'Accept-Encoding': coding } });
    expect(small.headers.get('content-encoding')).toBeNull();
  });

  test('a coding that is refused with q=0 is not used', async () => {
    const response = await app.request('/public/style.css', {
      headers: { 'Accept-Encoding': 'br;q=0, gzip;q=0.0' },
    });
    expect(response.headers.get('content-encoding')).toBeNull();
  });

  test('the name with the content hash may be kept for ever, the plain one is asked for again', async () => {
    expect(files.href('style.css')).toMatch(/^\/public\/style\.[0-9a-f]{12}\.css$/);
    const hashed = await app.request(files.href('style.css'));
    expect(hashed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(await hashed.text()).toBe(style);
    expect((await app.request('/public/style.css')).headers.get('cache-control')).toBe('no-cache');
  });

  test('another hash than ours, of another release, is the file as it is here, to be asked for again', async () => {
    for (const path of ['/public/style.0123456789ab.css', '/public/images/dot.0123456789ab.svg']) {
      const response = await app.request(path);
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    }
    expect(await (await app.request('/public/style.0123456789ab.css')).text()).toBe(style);
    for (const path of [
      '/public/other.0123456789ab.css',
      '/public/style.0123456789ab',
      '/public/.0123456789ab',
    ])
      expect((await app.request(path)).status).toBe(404);
  });

  test('the ETag and the Last-Modified of a file are answered with 304 while it is the same', async () => {
    const { headers } = await app.request('/public/style.css');
    const etag = headers.get('etag') ?? '';
    const modified = headers.get('last-modified') ?? '';
    const ask = async (known: Record<string, string>) =>
      (await app.request('/public/style.css', { headers: known })).status;
    expect(await ask({ 'If-None-Match': etag })).toBe(304);
    expect(await ask({ 'If-None-Match': `"other", W/${etag}` })).toBe(304);
    expect(await ask({ 'If-None-Match': '"other"' })).toBe(200);
    expect(await ask({ 'If-Modified-Since': modified })).toBe(304);
    expect(await ask({ 'If-Modified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' })).toBe(200);
    expect(await ask({ 'If-None-Match': '"other"', 'If-Modified-Since': modified })).toBe(200);
  });

  test('a view that names a file that is not there says so', () => {
    expect(() => files.href('nothing.css')).toThrow(/no file nothing.css/);
  });
});

/** The files of a folder of its own with `scripts` in it, written long ago but for the `latest` of them. */
async function filesOf(scripts: Record<string, string>, latest?: string): Promise<PublicFiles> {
  const own = await mkdtemp(join(folder, 'scripts-'));
  await mkdir(join(own, 'parts'));
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(own, name), script);
    const time = new Date(name === latest ? '2026-01-02T00:00:00Z' : '2026-01-01T00:00:00Z');
    await utimes(join(own, name), time, time);
  }
  return publicFiles(own);
}

describe('Scripts', () => {
  const scripts = {
    'a.js': "import { b } from './parts/b.js';\nimport './d.js';\nb();\n",
    'd.js': "export * from './parts/c.js';\n",
    'parts/b.js': "import {\n  c,\n} from './c.js';\n",
    'parts/c.js': 'export const c = 1;\n',
  };
  const ask = (own: PublicFiles, path: string) =>
    new Hono<TasksEnv>().get('/public/*', (c) => own.respond(c) ?? c.notFound()).request(path);
  const served = async (own: PublicFiles, name: string) => (await ask(own, own.href(name))).text();

  test('import one another by names with hashes, from folder to folder', async () => {
    const own = await filesOf(scripts);
    const below = (name: string, of: string) => own.href(name).replace(of, './');
    const [b, c, d] = [below('parts/b.js', '/public/'), own.href('parts/c.js'), below('d.js', '/public/')];
    expect(await served(own, 'a.js')).toContain(`import { b } from '${b}';\nimport '${d}';\n`);
    expect(await served(own, 'd.js')).toBe(`export * from '${c.replace('/public/', './')}';\n`);
    expect(await served(own, 'parts/b.js')).toContain(`from '${c.replace('/public/parts/', './')}'`);
  });

  test('have another name when something they import, however far away, has changed', async () => {
    const [before, after] = [
      await filesOf(scripts),
      await filesOf({ ...scripts, 'parts/c.js': 'export const c = 2;\n' }),
    ];
    for (const name of Object.keys(scripts)) expect(after.href(name)).not.toBe(before.href(name));
    const [same, added] = [await filesOf(scripts), await filesOf({ ...scripts, 'e.js': '' })];
    for (const name of Object.keys(scripts)) expect(added.href(name)).toBe(same.href(name));
  });

  test('were last modified when something they import was', async () => {
    const own = await filesOf(scripts, 'parts/c.js');
    const { headers } = await ask(own, '/public/a.js');
    expect(headers.get('last-modified')).toBe('Fri, 02 Jan 2026 00:00:00 GMT');
  });

  test.each([
    [{ 'a.js': "import './d.js';", 'd.js': "import './a.js';" }, 'a.js → d.js → a.js'],
    [{ 'a.js': "import './nothing.js';" }, 'no file nothing.js, imported by a.js'],
  ])('%o end the start, and the error says why', async (faulty, words) => {
    await expect(filesOf(faulty)).rejects.toThrow(words);
  });

  test('of the list may all be kept for ever', async () => {
    const own = publicFiles(`${import.meta.dirname}/../../public`);
    const found = new Set([own.href('list.js')]);
    for (const path of found) {
      const response = await ask(own, path);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      for (const [, name] of (await response.text()).matchAll(/from '\.\/(.+?)'/g))
        found.add(`/public/${name}`);
    }
    expect(found.size).toBeGreaterThan(5);
  });
});
