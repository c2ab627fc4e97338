import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { getMimeType } from 'hono/utils/mime';
import type { TasksContext } from './context.ts';
import { respond } from './respond.ts';

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
  /** The file that the request asks for under `/public/`, or undefined where there is none. */
  respond(c: TasksContext): Response | undefined;
}

/**
 * The files of `folder`, read and compressed once. A request is looked up among their names and never
 * reaches the file system: no path, however it is spelt or encoded, leads out of the folder. Names that
 * begin with a dot are left out.
 */
export function publicFiles(folder: string): PublicFiles {
  const files = new Map<string, PublicFile>();
  const hrefs = new Map<string, string>();
  for (const name of names(folder)) {
    const file = read(join(folder, name));
    const hashed = name.replace(/(\.\w+)?$/, `.${file.hash}$1`);
    files.set(`/public/${name}`, file).set(`/public/${hashed}`, file);
    hrefs.set(name, `/public/${hashed}`);
  }
  return {
    href(name) {
      const href = hrefs.get(name);
      if (!href) throw new Error(`${folder} has no file ${name}`);
      return href;
    },
    respond(c) {
      const path = decoded(c.req.path);
      const file = files.get(path);
      return file && answer(c, file, path.includes(`.${file.hash}`));
    },
  };
}

function names(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((name) => !name.split('/').some((part) => part.startsWith('.')));
}

function read(path: string): PublicFile {
  const identity = readFileSync(path);
  const smaller = (body: Buffer<ArrayBuffer>) => (body.length < identity.length ? body : undefined);
  const br = smaller(brotliCompressSync(identity));
  const gzip = smaller(gzipSync(identity));
  return {
    type: getMimeType(path) ?? 'application/octet-stream',
    modified: statSync(path).mtime,
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
