import type { ErrorCode } from '../expansion/errors.ts';
import type { Expansion } from '../expansion/expansion.ts';
import { maxLength, tooLong } from '../expansion/target.ts';
import type { NumberedUrl } from './url-list.ts';

/** Why a line failed; `fault` is one of ours. */
interface Failure {
  code: ErrorCode | 'fault';
  message: string;
}

/** One line of the answer, for one line of the request. */
export interface BulkLine {
  /** Counted from 1, in the order of the request. */
  line: number;
  /** The URL of the request; of one that is too long, its beginning; empty if it is not a string. */
  url: string;
  longUrl: string | null;
  redirectCount: number;
  cached: boolean;
  error: Failure | null;
}

/** What a line says of an expansion. */
export type LineExpansion = Pick<Expansion, 'longUrl' | 'redirectCount' | 'cached' | 'error'>;

/** Expands the URL of one line by `expand`. It never rejects: if that does, `onFault` gets the error. */
async function processLine(
  [line, given]: NumberedUrl,
  expand: (url: string) => Promise<LineExpansion>,
  onFault: (fault: unknown) => void,
): Promise<BulkLine> {
  const url = typeof given === 'string' ? given : '';
  const failed = ({ code, message }: Failure): BulkLine => {
    const beginning = url.slice(0, maxLength);
    return { line, url: beginning, longUrl: null, redirectCount: 0, cached: false, error: { code, message } };
  };
  if (url !== given) return failed(notAString);
  if (url.length > maxLength) return failed(tooLong());
  try {
    const { longUrl, redirectCount, cached, error } = await expand(url);
    return { line, url, longUrl, redirectCount, cached, error };
  } catch (error) {
    onFault(error);
    return failed(fault);
  }
}

const notAString: Failure = { code: 'invalid_url', message: 'This is not a string.' };
const fault: Failure = { code: 'fault', message: 'Something went wrong here.' };

export interface ProcessOptions {
  /** Expansions at a time. */
  concurrency: number;
  onFault: (fault: unknown) => void;
}

/**
 * Expands many URLs by `expand`, and gives each to `write` as it is done, which may hold up the next one. A line that
 * fails does not affect the others; `onFault` gets unexpected errors.
 */
export async function processList(
  urls: IteratorObject<NumberedUrl> | AsyncGenerator<NumberedUrl>,
  expand: (url: string) => Promise<LineExpansion>,
  write: (line: BulkLine) => Promise<void> | undefined,
  { concurrency, onFault }: ProcessOptions,
): Promise<void> {
  const inTurn = async () => {
    for await (const numbered of urls) await write(await processLine(numbered, expand, onFault));
  };
  await Promise.all(Array.from({ length: concurrency }, inTurn));
}
