import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { getMimeType } from 'hono/utils/mime';
import type { TasksContext } from './context.ts';
import { respond } from './responses.ts';

type Encoding = 'br' | 'gzip' | 'identity';

interface PublicFile {
  type: string;
  modified: Date;
  hash: string;
  /** The bytes as they are, and compressed where that makes them fewer. */
  bodies: Partial<Record<Encoding, Buffer<ArrayBuffer>>>;
}

export interface PublicFiles {
  /** The path of a file under a name that changes with its content, so that it may be cached for ever. */
  href(name: string): string;
  /**
   * The file that the request asks for under `/public/`, or undefined where there is none. While replicas are
   * replaced, a page of a new one may ask an old one, or the other way round: a hash that is not ours is
   * answered with the file as it is here, to be asked for again.
   */
  respond(c: TasksContext): Response | undefined;
}

/**
 * The files of `folder`, read and compressed once. A request is looked up among their names and never
 * reaches the file system: no path, however it is spelt or encoded, leads out of the folder. Names that
 * begin with a dot are left out. Scripts import one another under names with hashes, too.
 *
 * @throws Error where scripts import each other in a circle, or a file that is not there.
 */
export function publicFiles(folder: string): PublicFiles {
  const there = new Set(names(folder));
  const files = new Map<string, PublicFile>();

  /** Reads a file after those it imports: its hash is that of what is served, their hashes included. */
  const load = (name: string, importers: string[] = []): PublicFile => {
    const way = [...importers, name];
    if (!there.has(name)) throw new Error(`${folder} has no file ${way.toReversed().join(', imported by ')}`);
    if (importers.includes(name)) throw new Error(`scripts import each other: ${way.join(' → ')}`);
    const file = files.get(name) ?? read(join(folder, name), (path) => load(join(name, '..', path), way));
    files.set(name, file);
    return file;
  };
  for (const name of there) load(name);

  return {
    href(name) {
      const file = files.get(name);
      if (!file) throw new Error(`${folder} has no file ${name}`);
      return `/public/${hashed(name, file)}`;
    },
    respond(c) {
      const name = decoded(c.req.path).replace(/^\/public\//, '');
      const plain = files.get(name);
      if (plain) return answer(c, plain, false);
      const [, stem = '', hash, extension = ''] = /^(.+)\.([0-9a-f]{12})(\.\w+)?$/.exec(name) ?? [];
      const file = files.get(`${stem}${extension}`);
      return file && answer(c, file, hash === file.hash);
    },
  };
}

/** The name, or the path, of a file with its hash before the ending. */
function hashed(name: string, { hash }: PublicFile): string {
  return name.replace(/(\.\w+)?$/, `.${hash}$1`);
}

function names(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((name) => !name.split('/').some((part) => part.startsWith('.')));
}

/** What a script imports: the path in `from './x.js'` or `import './x.js'`. */
const imports = /(?<=\b(?:from|import) ')\.\/[^']+(?=')/g;

/** @param imported gives the file that `path` means to this one. */
function read(path: string, imported: (path: string) => PublicFile): PublicFile {
  let identity = readFileSync(path);
  let modified = statSync(path).mtime;
  if (path.endsWith('.js')) {
    const script = identity.toString().replace(imports, (specifier) => {
      const file = imported(specifier);
      // It changes with what it imports.
      if (file.modified > modified) modified = file.modified;
      return hashed(specifier, file);
    });
    identity = Buffer.from(script);
  }
  const smaller = (body: Buffer<ArrayBuffer>) => (body.length < identity.length ? body : undefined);
  const br = smaller(brotliCompressSync(identity));
  const gzip = smaller(gzipSync(identity));
  return {
    type: getMimeType(path) ?? 'application/octet-stream',
    modified,
    hash: createHash('sha256').update(identity).digest('hex').slice(0, 12),
    bodies: { identity, ...(br && { br }), ...(gzip && { gzip }) },
  };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function answer(c: TasksContext, { type, modified, hash, bodies }: PublicFile, immutable: boolean): Response {
  const encoding = accepted(c.req.header('accept-encoding') ?? '', bodies);
  const etag = `"${hash}-${encoding}"`;
  const headers = {
    'Content-Type': type,
    'Cache-Control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: etag,
    'Last-Modified': modified.toUTCString(),
    Vary: 'Accept-Encoding',
    ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
  };
  if (unchanged(c, etag, modified)) return respond(c, null, 304, headers);
  const body = bodies[encoding] as Buffer<ArrayBuffer>;
  return respond(c, body, 200, { ...headers, 'Content-Length': `${body.length}` });
}

/** The smallest variant there is whose coding `header` lists and does not refuse with `q=0`. */
function accepted(header: string, bodies: PublicFile['bodies']): Encoding {
  const codings = header.split(',').map((item) => item.trim().toLowerCase());
  const takes = (coding: string) =>
    codings.some((item) => item.split(';')[0]?.trim() === coding && !/;\s*q=0(\.0*)?$/.test(item));
  return (['br', 'gzip'] as const).find((coding) => bodies[coding] && takes(coding)) ?? 'identity';
}

/** RFC 9110 section 13.2.2: `If-None-Match` decides where it is given, else `If-Modified-Since`. */
function unchanged(c: TasksContext, etag: string, modified: Date): boolean {
  const known = c.req.header('if-none-match');
  if (known !== undefined)
    return known === '*' || known.split(/\s*,\s*/).some((tag) => tag.replace(/^W\//, '') === etag);
  const since = Date.parse(c.req.header('if-modified-since') ?? '');
  return Math.floor(modified.getTime() / 1_000) * 1_000 <= since;
}
