import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { getMimeType } from 'hono/utils/mime';
import type { TasksContext } from './context.ts';
import { notModified, respond } from './responses.ts';

/** The codings of content, the best first. */
const compress = {
  br: brotliCompressSync,
  gzip: (content: Buffer) => gzipSync(content, { level: 9 }),
};

type Coding = keyof typeof compress;

type PublicFile = ReturnType<typeof publicFile>;

export type PublicFiles = ReturnType<typeof publicFiles>;

/** What pages load from packages, beside our own files. */
const packaged = ['idiomorph/dist/idiomorph.min.js'].map((name) => fileURLToPath(import.meta.resolve(name)));

/**
 * The files of `folder` and of packages, each read and compressed once. A request is a lookup by name and never reaches the
 * file system, so no path can leave the folder, however it is spelled. Names that begin with a dot are left out.
 */
export function publicFiles(folder: string) {
  // A folder's own name has no dot in it.
  const names = globSync('**/*.*', { cwd: folder }).sort();
  const paths = [...names.map((name) => join(folder, name)), ...packaged];
  const files = new Map(
    paths.map((path, i) => [names[i]?.replace(/\.ts$/, '.js') ?? basename(path), publicFile(path)]),
  );
  const release = shortHash([...files].map(([name, { hash }]) => `${name} ${hash}\n`).join(''));

  return {
    /**
     * The path of a file in a folder that is named after the release, a hash of all files: `/public/<release>/list.js`.
     * It may be cached forever.
     */
    href(name: string): string {
      if (!files.has(name)) throw new Error(`${folder} has no file ${name}`);
      return `/public/${release}/${name}`;
    },
    /**
     * The file that the request asks for, with or without a release; undefined if there is none. While replicas are
     * replaced, a page of another release gets the file of this one, uncached.
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
  const content = path.endsWith('.ts') ? script(path) : readFileSync(path);
  return {
    type: getMimeType(path.replace(/\.ts$/, '.js')) ?? 'application/octet-stream',
    hash: shortHash(content),
    content,
    /** The content in each coding that was asked for; not made at the start, which it would slow down. */
    compressed: {} as Partial<Record<Coding, Buffer<ArrayBuffer>>>,
  };
}

/** A script without its types. Node warns that the function for that may change; a test would tell. */
function script(path: string): Buffer<ArrayBuffer> {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return Buffer.from(stripTypeScriptTypes(readFileSync(path, 'utf8')));
  } finally {
    process.emitWarning = emitWarning;
  }
}

function shortHash(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}

function respondFile(c: TasksContext, file: PublicFile, immutable: boolean): Response {
  const { type, hash, content } = file;
  const coding = chooseCoding(c.req.header('accept-encoding') ?? '', file);
  const etag = `"${hash}-${coding ?? 'identity'}"`;
  const headers = {
    'Content-Type': type,
    'Cache-Control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: etag,
    Vary: 'Accept-Encoding',
    ...(coding && { 'Content-Encoding': coding }),
  };
  if (notModified(c, etag)) return respond(c, null, 304, headers);
  return respond(c, coding ? compressed(file, coding) : content, 200, headers);
}

/** The best coding that the client lists, does not refuse with `q=0` (RFC 9110 section 12.5.3), and that saves bytes. */
function chooseCoding(header: string, file: PublicFile): Coding | undefined {
  const listed = header.split(',').map((item) => item.trim().toLowerCase());
  const accepts = (coding: string) =>
    listed.some((item) => item.split(';')[0]?.trim() === coding && !/;\s*q=0(\.0*)?$/.test(item));
  const codings = Object.keys(compress) as Coding[];
  return codings.find((coding) => accepts(coding) && compressed(file, coding).length < file.content.length);
}

function compressed(file: PublicFile, coding: Coding): Buffer<ArrayBuffer> {
  file.compressed[coding] ??= compress[coding](file.content);
  return file.compressed[coding];
}
