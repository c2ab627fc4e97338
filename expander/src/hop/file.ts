import { controls } from '@longhand/shared/control-characters.ts';
import type { Answer } from '../expansion/expansion.ts';
import { mayBePage } from './page.ts';
import type { ResponseHead } from './response-head.ts';

/** Characters of a name. The rest is cut. */
const maxName = 120;

/** The file that a browser saves, or shows instead of a page; null for a page or no content. */
export function fileOf(url: URL, head: ResponseHead): NonNullable<Answer['file']> | null {
  const { status, headers } = head;
  if (status < 200 || status > 299 || status === 204 || status === 205 || mayBePage(head)) return null;
  const { 'content-disposition': disposition = '', 'content-length': length = '' } = headers;
  const isEncoded = headers['content-encoding'] !== undefined;
  const size = /^\d{1,15}$/.test(length) && !isEncoded ? Number(length) : null;
  const name = nameIn(disposition) ?? decoded(url.pathname).split('/').at(-1) ?? '';
  return { name: name.replace(controls, '').slice(0, maxName) || url.hostname, size };
}

/** The name that a `Content-Disposition` field gives (RFC 6266), without folders. */
function nameIn(disposition: string): string | undefined {
  const [, encoded] = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  const [, quoted, plain = ''] = /;\s*filename\s*=\s*(?:"([^"]*)"|([^;\s]+))/i.exec(disposition) ?? [];
  const name = encoded ? decoded(encoded) : Buffer.from(quoted ?? plain, 'latin1').toString();
  return name.split(/[/\\]/).at(-1) || undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
