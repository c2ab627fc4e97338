import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LazyResponse } from '@longhand/shared/routes.ts';
import { getMimeType } from 'hono/utils/mime';
import type { TasksContext } from './context.ts';
import { tagged } from './responses.ts';
import { readScript } from './script.ts';

export type PublicFiles = ReturnType<typeof publicFiles>;

/** Code of the server that browsers run, too. */
const sharedScripts = ['list-markers', 'shared-text'];
const idiomorph = fileURLToPath(import.meta.resolve('idiomorph/dist/idiomorph.min.js'));

/**
 * Loads idiomorph, the code that browsers run, too, and the files in `folder`, except dotfiles, into memory. Requests never
 * reach the file system, so no path can leave the folder.
 */
export function publicFiles(folder: string) {
  // Folders have no dot in their names.
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('.') && !`/${name}`.includes('/.'))
    .sort();
  const files = new Map([['idiomorph.min.js', publicFile(idiomorph)]]);
  for (const name of sharedScripts)
    files.set(`${name}.js`, publicFile(`${import.meta.dirname}/../task/${name}.ts`));
  for (const name of names) files.set(name.replace(/\.ts$/, '.js'), publicFile(join(folder, name)));
  const release = shortHash([...files].map(([name, { digest }]) => `${name} ${digest}\n`).join(''));

  return {
    /** Returns a path such as `/public/<release>/list.js`. The release is a hash of all files, so the path never expires. */
    href(name: string): string {
      if (!files.has(name)) throw new Error(`${folder} has no file ${name}`);
      return `/public/${release}/${name}`;
    },
    /** Responds with the requested file, if it exists. Paths of another release return this release's file, uncached. */
    respond(c: TasksContext): LazyResponse | undefined {
      const path = c.req.path.replace(/^\/public\//, '');
      const [, asked, name = path] = /^([0-9a-f]{12})\/(.+)$/.exec(path) ?? [];
      const file = files.get(name);
      const caching = asked === release ? 'public, max-age=31536000, immutable' : 'no-cache';
      const headers: Record<string, string> = { 'Cache-Control': caching, Vary: 'Accept-Encoding' };
      // The service worker serves pages outside its folder.
      if (name === 'worker.js') headers['Service-Worker-Allowed'] = '/';
      return file && tagged(c, `W/"${file.digest}"`, file.type, () => file.content, headers);
    },
  };
}

function publicFile(path: string) {
  const content = path.endsWith('.ts') ? Buffer.from(readScript(path)) : readFileSync(path);
  const type = getMimeType(path.replace(/\.ts$/, '.js')) ?? 'application/octet-stream';
  return { type, digest: shortHash(content), content };
}

function shortHash(content: string | Buffer): string {
  return hash('sha256', content).slice(0, 12);
}
