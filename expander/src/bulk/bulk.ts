import type { ErrorCode } from '../expansion/errors.ts';
import type { Expand } from '../expansion/expand.ts';
import type { Expansion, Follow } from '../expansion/expansion.ts';
import { maxLength, tooLong } from '../expansion/target.ts';
import type { Numbered } from './url-list.ts';

/**
 * Expansions at a time, over all requests: fewer than the 64 that may wait for one origin, so that a list of
 * links of one shortener leaves room for those who ask for a single one.
 */
const atATime = 48;

/** Why a line failed; `fault` is one of ours. */
interface Failure {
  code: ErrorCode | 'fault';
  message: string;
}

/** One line of the answer: what became of one line of the question. */
export interface BulkLine {
  /** Counted from 1, as it was given. */
  line: number;
  /** As it was given, or the beginning of what is longer than any URL. */
  url: string;
  longUrl: string | null;
  redirectCount: number;
  cached: boolean;
  error: Failure | null;
}

/**
 * Expands many URLs, 48 at a time, and yields each as it is done. A line that is no URL fails alone, and one at which
 * there is a fault of ours, of which `onFault` is told. Where `signal` is aborted, what is under way is stopped.
 */
export async function* expandAll(
  trace: Expand['trace'],
  urls: readonly Numbered[],
  { follow, signal, onFault }: { follow: Follow; signal?: AbortSignal; onFault: (fault: unknown) => void },
): AsyncGenerator<BulkLine, void, void> {
  const waiting = urls.values();
  const underWay = new Map<number, Promise<BulkLine>>();
  const start = () => {
    const next = waiting.next();
    if (next.done || signal?.aborted) return;
    const [line, url] = next.value;
    underWay.set(line, expandLine(line, url));
  };
  const expandLine = async (line: number, url: unknown): Promise<BulkLine> => {
    if (typeof url !== 'string') return failed(line, shown(url), notAString);
    if (url.length > maxLength) return failed(line, url, tooLong());
    try {
      return told(line, url, await trace(url, { follow, signal }));
    } catch (error) {
      onFault(error);
      return failed(line, url, fault);
    }
  };
  for (let i = 0; i < atATime; i += 1) start();
  while (underWay.size > 0) {
    const done = await Promise.race(underWay.values());
    underWay.delete(done.line);
    start();
    yield done;
  }
}

/** Lets 48 expansions through at a time, first come, first served. */
export function takingTurns(trace: Expand['trace']): Expand['trace'] {
  const queue: (() => void)[] = [];
  let underWay = 0;
  return async (url, options) => {
    if (underWay < atATime) underWay += 1;
    else await new Promise<void>((turn) => queue.push(turn));
    try {
      return await trace(url, options);
    } finally {
      const next = queue.shift();
      if (next) next();
      else underWay -= 1;
    }
  };
}

/** JSON that stands where a URL should; of what nests too deep to be written, nothing. */
function shown(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '';
  }
}

const notAString: Failure = { code: 'invalid_url', message: 'This is not a string.' };
const fault: Failure = { code: 'fault', message: 'Something went wrong here.' };

function failed(line: number, url: string, { code, message }: Failure): BulkLine {
  const begun = url.slice(0, maxLength);
  return { line, url: begun, longUrl: null, redirectCount: 0, cached: false, error: { code, message } };
}

function told(line: number, url: string, { longUrl, redirectCount, cached, error }: Expansion): BulkLine {
  return { line, url, longUrl, redirectCount, cached, error };
}
