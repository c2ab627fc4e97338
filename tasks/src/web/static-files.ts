import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getMimeType } from 'hono/utils/mime';
import type { TasksContext } from './context.ts';
import { tagged } from './responses.ts';
import { readScript } from './script.ts';

type PublicFile = ReturnType<typeof publicFile>;

export type PublicFiles = ReturnType<typeof publicFiles>;

/** Scripts from packages. */
const packaged = ['idiomorph/dist/idiomorph.min.js'].map((name) => fileURLToPath(import.meta.resolve(name)));

/**
 * The files of `folder` and of packages, read once, without dotfiles. A request is a lookup by name and never reaches the
 * file system, so no spelling of a path leaves the folder.
 */
export function publicFiles(folder: string) {
  // Names of folders have no dot.
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('.') && !`/${name}`.includes('/.'))
    .sort();
  const paths = [...names.map((name) => join(folder, name)), ...packaged];
  const files = new Map(
    paths.map((path, i) => [names[i]?.replace(/\.ts$/, '.js') ?? basename(path), publicFile(path)]),
  );
  const release = shortHash([...files].map(([name, { digest }]) => `${name} ${digest}\n`).join(''));

  return {
    /** The path of a file, with a hash of all files: `/public/<release>/list.js`. It may be cached forever. */
    href(name: string): string {
      if (!files.has(name)) throw new Error(`${folder} has no file ${name}`);
      return `/public/${release}/${name}`;
    },
    /**
     * The requested file, if it exists. During a rollout, a page of another release gets the file of this one, uncached.
     */
    respond(c: TasksContext): Response | undefined {
      const path = c.req.path.replace(/^\/public\//, '');
      const [, asked, name = path] = /^([0-9a-f]{12})\/(.+)$/.exec(path) ?? [];
      const file = files.get(name);
      return file && respondFile(c, file, asked === release);
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

function respondFile(c: TasksContext, { type, digest, content }: PublicFile, immutable: boolean): Response {
  return tagged(c, `W/"${digest}"`, type, content, {
    'Cache-Control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    Vary: 'Accept-Encoding',
  });
}
