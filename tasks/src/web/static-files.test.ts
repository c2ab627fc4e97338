import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createRoutes } from '@longhand/shared/routes.ts';
import { noTurns } from '@longhand/shared/turns.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TasksEnv } from './context.ts';
import { respond } from './responses.ts';
import { readScript } from './script.ts';
import { type PublicFiles, publicFiles } from './static-files.ts';

function appOf(files: () => PublicFiles) {
  const { get, app } = createRoutes<TasksEnv>(noTurns);
  get('/public/*', (c) => files().respond(c) ?? respond(c, null, 404));
  return app;
}

const style = 'body { color: black; }\n';
let folder: string;
let files: PublicFiles;
const app = appOf(() => files);

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
  ])('%s returns the file with its type', async (path, type, content) => {
    const response = await app.request(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(await response.text()).toBe(content);
  });

  test.each([
    '/public/',
    '/public/images',
    '/public/nothing.css',
    '/public/.env',
    '/public/.git/config',
    '/public/..%2fsecret.txt',
    '/public/%2e%2e%2fsecret.txt',
    '/public/..%5csecret.txt',
    '/public/%c0%ae%c0%ae/secret.txt',
    '/public//etc/passwd',
    '/public/%',
    '/public/0123456789ab/other.css',
    '/public/0123456789ab/../secret.txt',
    '/public/0123456789ab/',
    '/public/0123456789ab',
    '/public/0123/style.css',
  ])('%s is 404', async (path) => {
    expect((await app.request(path)).status).toBe(404);
  });

  test('paths with the current release are cached forever; other paths are revalidated', async () => {
    const released = files.href('style.css');
    expect(released).toMatch(/^\/public\/[0-9a-f]{12}\/style\.css$/);
    for (const path of [released, '/public/style.css', '/public/0123456789ab/style.css']) {
      const response = await app.request(path);
      const caching = path === released ? 'public, max-age=31536000, immutable' : 'no-cache';
      expect([response.headers.get('cache-control'), await response.text()]).toEqual([caching, style]);
    }
  });

  test('an unchanged file returns 304', async () => {
    const etag = (await app.request('/public/style.css')).headers.get('etag') ?? '';
    const ask = async (known: string) =>
      (await app.request('/public/style.css', { headers: { 'If-None-Match': known } })).status;
    expect([await ask(etag), await ask(`"other", ${etag}`), await ask('"other"')]).toEqual([304, 304, 200]);
  });
});

describe('Scripts', () => {
  const filesOf = async (content: Record<string, string>) => {
    const own = await mkdtemp(join(folder, 'scripts-'));
    for (const [name, script] of Object.entries(content)) await writeFile(join(own, name), script);
    return publicFiles(own);
  };
  const serving = (own: PublicFiles) => appOf(() => own);

  test('the release path depends only on the content of the scripts', async () => {
    const scripts = { 'a.ts': "import './b.ts';\n", 'b.ts': 'export const b = 1;\n' };
    const path = async (content: Record<string, string>) => (await filesOf(content)).href('a.js');
    const before = await path(scripts);
    expect(await path(scripts)).toBe(before);
    expect(await path({ ...scripts, 'b.ts': 'export const b = 2;\n' })).not.toBe(before);
  });

  test('are served as separate files without types, comment lines and blank lines', async () => {
    const code =
      "// Imports c\n\n/**\n * A doc.\n *\n * @see c\n */\nimport { c } from './c.js';\nconst glob = 'src/**/x'; // */\nc(glob as string);\n";
    const own = await filesOf({ 'a.ts': code, 'c.ts': 'export const c = (n: string) => n;\n' });
    const script = await (await serving(own).request(own.href('a.js'))).text();
    expect(script.replaceAll(/ +\)/g, ')')).toBe(
      code.slice(code.indexOf('import')).replace(' as string', ''),
    );
  });

  test('are stripped once and then cached until they change', async () => {
    const own = await mkdtemp(join(folder, 'scripts-'));
    const [path, kept] = [join(own, 'a.ts'), join(own, 'kept')];
    await Promise.all([mkdir(kept), writeFile(path, 'const a: number = 1;\n')]);
    const script = readScript(path, kept);
    const [name = ''] = await readdir(kept);
    expect(await readFile(join(kept, name), 'utf8')).toBe(script);
    await writeFile(join(kept, name), 'kept');
    expect(readScript(path, kept)).toBe('kept');
    // Scripts are read even if the cache folder is invalid (here a file).
    expect(readScript(path, path)).toBe(script);
    await writeFile(path, 'const b: number = 1;\n');
    expect(readScript(path, kept)).toContain('const b');
  });

  test('no string of a script has two spaces, which would become one', async () => {
    const root = `${import.meta.dirname}/../../public`;
    for (const name of (await readdir(root)).filter((each) => each.endsWith('.ts')))
      expect(await readFile(join(root, name), 'utf8'), name).not.toMatch(/^ *[^ /*].*\S {2}/m);
  });

  test('the list page loads at most 34 KB of compressed scripts, including the library', async () => {
    const own = publicFiles(`${import.meta.dirname}/../../public`);
    const preload = await readFile(`${import.meta.dirname}/../../views/preload.eta`, 'utf8');
    const names = /modules = '([a-z -]+)'/.exec(preload)?.[1]?.split(' ') ?? [];
    expect(names).toContain('waiting');
    let bytes = 0;
    for (const name of ['idiomorph.min', 'list', ...names]) {
      const response = await serving(own).request(own.href(`${name}.js`));
      bytes += gzipSync(await response.arrayBuffer()).byteLength;
    }
    expect(bytes).toBeLessThanOrEqual(34 * 1024);
  });
});
