import { decoded, fileName, percentDecoded } from './content-disposition.ts';
import type { ResponseHead } from './response-head.ts';
import { mimeType } from './shown.ts';

/** A file that a browser saves, or shows instead of a page. */
export interface File {
  name: string;
  /** Bytes; null if unknown. */
  size: number | null;
}

/** Characters of a name. A longer one loses its middle, because its ending says what it is. */
const maxName = 120;
const maxEnding = 40;

/** The file in a response. */
export function fileOf(url: URL, { headers }: ResponseHead): File {
  const { 'content-disposition': disposition = '', 'content-length': length = '' } = headers;
  const isEncoded = headers['content-encoding'] !== undefined;
  const size = /^\d{1,15}$/.test(length) && !isEncoded ? Number(length) : null;
  const name = fileName(disposition);
  return { name: cut(name ? withoutDots(name) : nameFromUrl(url, mimeType(headers))), size };
}

/** Characters that Chromium replaces in the name of a file: separators, wildcards, controls and invisible ones. */
const illegal = /["*/:<>?\\|\p{Cc}\p{Noncharacter_Code_Point}]|(?![\u200c\u200d])\p{Cf}|^[\s~]|[\s~]$/gu;

/** The default name stands for an empty one. */
function withoutDots(name: string): string {
  return (
    name
      .replace(/^\.+/, '')
      .replace(/(?<!\.)\.+$/, '')
      .replace(illegal, '_') || 'download'
  );
}

/** The last segment of the path. A query may say that a program made the file: then the type decides about the ending. */
function nameFromUrl({ pathname, search }: URL, type: string): string {
  const segment = pathname.slice(pathname.lastIndexOf('/') + 1).replace(/;.*/, '');
  const name = withoutDots(decoded(percentDecoded(segment)) ?? '');
  const ending = endings.get(type);
  const hasEnding = /[^.]\.[^.]+$/.test(name);
  if (!ending || (hasEnding && search === '')) return name;
  return `${name.replace(/(?<=[^.])\.[^.]+$/, '')}.${ending}`;
}

/** Endings that Chromium adds to a name, by the type: those of net/base/mime_util.cc that the web uses. */
const endings = new Map(
  `application/epub+zip epub, application/gzip gz, application/javascript js, application/json json, application/msword doc,
  application/pdf pdf, application/postscript ps, application/rtf rtf, application/vnd.android.package-archive apk,
  application/vnd.ms-excel xls, application/vnd.ms-powerpoint ppt, application/wasm wasm,
  application/vnd.openxmlformats-officedocument.presentationml.presentation pptx,
  application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx,
  application/vnd.openxmlformats-officedocument.wordprocessingml.document docx, application/x-tar tar,
  application/x-x509-ca-cert cer, application/xhtml+xml xhtml, application/zip zip, audio/mpeg mp3, image/avif avif,
  image/gif gif, image/jpeg jpeg, image/png png, image/svg+xml svg, image/webp webp, message/rfc822 eml, text/calendar ics,
  text/css css, text/csv csv, text/html html, text/javascript js, text/plain txt, text/xml xml, video/mp4 mp4,
  video/webm webm`
    .split(/,\s+/)
    .map((line) => line.split(' ') as [type: string, ending: string]),
);

function cut(name: string): string {
  const characters = [...name];
  if (characters.length <= maxName) return name;
  const beginning = characters.slice(0, maxName - maxEnding - 1);
  return [...beginning, '…', ...characters.slice(-maxEnding)].join('');
}
