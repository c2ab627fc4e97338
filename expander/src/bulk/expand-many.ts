import { type ErrorCode, ExpansionError } from '../expansion/errors.ts';
import type { Expand } from '../expansion/expand.ts';
import type { Follow } from '../expansion/expansion.ts';
import { maxLength, tooLong } from '../expansion/target.ts';
import type { NumberedUrl } from './url-list.ts';

/**
 * Expansions of one list at a time: fewer than the 64 that may wait for one origin, so that a list of links of one
 * shortener leaves room for single requests.
 */
const maxInFlight = 48;

/** Why a line failed; `fault` is one of ours. */
interface Failure {
  code: ErrorCode | 'fault';
  message: string;
}

/** One line of the answer, for one line of the request. */
export interface BulkLine {
  /** Counted from 1, in the order of the request. */
  line: number;
  /** The URL of the request; of one that is too long, its beginning. */
  url: string;
  longUrl: string | null;
  redirectCount: number;
  cached: boolean;
  error: Failure | null;
}

export interface BulkOptions {
  follow: Follow;
  /** Aborted, the expansions in progress stop and no other starts. */
  signal?: AbortSignal;
  onFault: (fault: unknown) => void;
}

/**
 * Expands many URLs, 48 at a time, and yields each as it is done. A line that fails does not affect the others; after a
 * fault of ours `onFault` gets the error.
 */
export async function* expandMany(
  trace: Expand['trace'],
  urls: readonly NumberedUrl[],
  { follow, signal, onFault }: BulkOptions,
): AsyncGenerator<BulkLine, void, void> {
  const waiting = urls.values();
  const inFlight = new Map<number, Promise<BulkLine>>();
  const start = () => {
    const next = waiting.next();
    if (next.done || signal?.aborted) return;
    const [line, url] = next.value;
    inFlight.set(line, expandLine(line, url));
  };
  const expandLine = async (line: number, url: unknown): Promise<BulkLine> => {
    if (typeof url !== 'string') return failedLine(line, jsonOf(url), notAString);
    if (url.length > maxLength) return failedLine(line, url, tooLong());
    try {
      const { longUrl, redirectCount, cached, error } = await trace(url, { follow, signal });
      return { line, url, longUrl, redirectCount, cached, error };
    } catch (error) {
      if (error instanceof ExpansionError) return failedLine(line, url, error);
      onFault(error);
      return failedLine(line, url, fault);
    }
  };
  for (let i = 0; i < maxInFlight; i += 1) start();
  while (inFlight.size > 0) {
    const done = await Promise.race(inFlight.values());
    inFlight.delete(done.line);
    start();
    yield done;
  }
}

const notAString: Failure = { code: 'invalid_url', message: 'This is not a string.' };
const fault: Failure = { code: 'fault', message: 'Something went wrong here.' };

function failedLine(line: number, url: string, { code, message }: Failure): BulkLine {
  const beginning = url.slice(0, maxLength);
  return { line, url: beginning, longUrl: null, redirectCount: 0, cached: false, error: { code, message } };
}

/** A value as JSON; empty if it is nested too deep. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '';
  }
}
