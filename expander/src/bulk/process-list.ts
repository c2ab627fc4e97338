import type { ErrorCode } from '../expansion/errors.ts';
import type { Expansion } from '../expansion/expansion.ts';
import { maxLength, tooLong } from '../expansion/target.ts';
import type { NumberedUrl } from './url-list.ts';

/** A line of the response. */
export interface BulkLine extends Pick<Expansion, 'longUrl' | 'redirectCount' | 'cached'> {
  /** Line number of the URL, from 1. */
  line: number;
  /** The given URL, truncated if it is too long. Empty if the value is not a string. */
  url: string;
  /** `fault` means a bug in the expander. */
  error: { code: ErrorCode | 'fault'; message: string } | null;
  /** Why the chain ended: a code, a message, and perhaps a target that was not requested. */
  end: { code: string; message: string } | null;
  /** The verdict as a sentence, such as `It leads to example.com`. */
  reason: string | null;
  /** A code, if there is something to beware of. */
  warning: string | null;
}

type Outcome = Partial<Omit<BulkLine, 'line' | 'url'>>;

const invalid = (message: string): Outcome => ({ error: { code: 'invalid_url', message } });

/** Explains why a line is not a URL, although a parser might make one of it. */
function faultOf(line: string): string | null {
  if (line.length > maxLength) return tooLong().message;
  // The URL parser would drop the tab.
  if (line.trim().includes('\t')) return 'The line contains a tab; put only the URL on the line.';
  // U+FFFD replaces malformed bytes. Nobody knows the encoding of a list in Latin-1.
  return line.includes('\ufffd') ? 'The line is not UTF-8; convert the list to UTF-8.' : null;
}

/**
 * Expands many URLs. A failed line does not affect other lines.
 *
 * @param expand returns the fields of a line.
 * @param write receives each line as soon as it is done. The next expansion waits for the returned promise.
 * @param concurrency maximum concurrent expansions.
 * @param onFault receives errors that `expand` throws.
 */
export async function processList(
  urls: IteratorObject<NumberedUrl> | AsyncGenerator<NumberedUrl>,
  expand: (url: string) => Promise<Outcome>,
  write: (line: BulkLine) => Promise<void> | undefined,
  { concurrency, onFault }: { concurrency: number; onFault: (fault: unknown) => void },
): Promise<void> {
  const expandLine = async (url: string | null): Promise<Outcome> => {
    if (url === null) return invalid('This value is not a string.');
    const fault = faultOf(url);
    if (fault) return invalid(fault);
    try {
      return await expand(url);
    } catch (error) {
      onFault(error);
      return { error: { code: 'fault', message: 'Something went wrong.' } };
    }
  };
  const work = async () => {
    for await (const [line, given] of urls) {
      const url = given?.slice(0, maxLength) ?? '';
      const { error = null, ...outcome } = await expandLine(given);
      const { longUrl = null, redirectCount = 0, cached = false } = outcome;
      const { end = error, reason = error?.message ?? null, warning = null } = outcome;
      await write({ line, url, longUrl, redirectCount, cached, error, end, reason, warning });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}
