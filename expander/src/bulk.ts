import type { Expand } from './expand.ts';
import type { Expansion, Follow } from './expansion.ts';
import { type ErrorCode, ExpansionError } from './expansion-error.ts';

/** URLs in one request. */
const maxUrls = 10_000;
/** Bytes of one request: 10 000 URLs of 800 bytes. */
export const maxBulkSize = 8_000_000;
/**
 * Expansions at a time, over all requests: fewer than the 64 that may wait for one origin, so that a list of
 * links of one shortener leaves room for those who ask for a single one.
 */
const atATime = 48;

/** One line of the answer: what became of one line of the question. */
export interface BulkLine {
  /** Counted from 1, as it was given. */
  line: number;
  url: string;
  longUrl: string | null;
  redirectCount: number;
  cached: boolean;
  error: { code: ErrorCode; message: string } | null;
}

type Numbered = readonly [line: number, url: unknown];

/**
 * Reads URLs, one a line or as a JSON array. Empty lines are passed over.
 *
 * @throws ExpansionError `invalid_url` where it begins like an array and is none, or has more than `max` URLs.
 */
export function readUrls(text: string, max = maxUrls): Numbered[] {
  const body = text.replace(/^\ufeff/, '');
  const given: unknown[] = body.trimStart().startsWith('[') ? parseArray(body) : body.split(/\r\n|\r|\n/);
  const urls = given.map((url, i): Numbered => [i + 1, url]).filter(([, url]) => url !== '');
  if (urls.length > max) {
    throw new ExpansionError('invalid_url', `These are ${urls.length} URLs; ${max} are taken at a time.`);
  }
  return urls;
}

function parseArray(body: string): unknown[] {
  try {
    return JSON.parse(body);
  } catch {
    throw new ExpansionError('invalid_url', 'The body begins like a JSON array and is none.');
  }
}

/**
 * Expands many URLs, 48 at a time, and yields each as it is done. A line that is no URL fails alone. Where
 * `signal` is aborted, what is under way is stopped.
 */
export async function* expandAll(
  trace: Expand['trace'],
  urls: readonly Numbered[],
  { follow, signal }: { follow: Follow; signal?: AbortSignal },
): AsyncGenerator<BulkLine, void, void> {
  const waiting = urls.values();
  const underWay = new Map<number, Promise<BulkLine>>();
  const start = () => {
    const next = waiting.next();
    if (next.done || signal?.aborted) return;
    const [line, url] = next.value;
    underWay.set(line, expandLine(line, url));
  };
  const expandLine = async (line: number, url: unknown): Promise<BulkLine> =>
    typeof url === 'string'
      ? told(line, url, await trace(url, { follow, signal }))
      : { line, url: JSON.stringify(url), longUrl: null, redirectCount: 0, cached: false, error: notAString };
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

const notAString: BulkLine['error'] = { code: 'invalid_url', message: 'This is not a string.' };

function told(line: number, url: string, { longUrl, redirectCount, cached, error }: Expansion): BulkLine {
  return { line, url, longUrl, redirectCount, cached, error };
}
