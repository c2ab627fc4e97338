import { createPieceQueue } from '@longhand/shared/pieces.ts';
import type { LazyResponse } from '@longhand/shared/routes.ts';
import type { Turns } from '@longhand/shared/turns.ts';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { createBodyReaders } from '../bulk/bulk-body.ts';
import { type BulkLine, processList } from '../bulk/process-list.ts';
import { inTurns, readUrls } from '../bulk/url-list.ts';
import { overloaded } from '../expansion/errors.ts';
import type { Expand } from '../expansion/expand.ts';
import { createCounts } from '../expansion/expansion.ts';
import { asciiJson } from './ascii-json.ts';
import { followArgument, type ReadRequest, readFollow } from './expand-request.ts';
import { verdictOf } from './judge.ts';
import { apiHeaders, noStore, unbuffered } from './responses.ts';

/** Maximum lines in progress per list. Hung hosts delay a list only once they block this many lines. */
const concurrency = 128;

/** Maximum lists in progress. Each list sends a line within 30 s even if all lists wait for one hung host. */
const maxLists = 128;
const maxListsOfClient = 16;

/** Maximum time without output (ms) before a list sends a blank line. nginx times out after 30 s. */
const maxSilence = 10_000;

/** `POST /api/expand`: returns a line for each URL in a list. @param cors headers of the response. */
export function expandList(
  expand: Expand,
  readRequest: ReadRequest,
  onFault: (fault: unknown) => void,
  turns: Turns,
  cors: Record<string, string>,
) {
  const lists = createCounts();
  let last = 0;
  const readerOf = createBodyReaders();
  return async (c: Context): Promise<LazyResponse> => {
    const { signal, client } = await readRequest(c);
    const turn = async () => turns(() => [client], signal);
    const follow = readFollow(followArgument(c));
    if (lists.count('all') >= maxLists || lists.count(client) >= maxListsOfClient) {
      throw overloaded('Too many URL lists are in progress');
    }
    checkCoding(c);
    for (const name of ['all', client]) lists.add(name, 1);
    last += 1;
    const list = last;
    const { read, keep } = readerOf(c.req.raw, client);
    const end = () => {
      for (const name of ['all', client]) lists.add(name, -1);
      keep(0);
    };
    try {
      const isJson = /^application\/([\w.-]+\+)?json\b/i.test(c.req.header('Content-Type') ?? '');
      const urls = await readUrls(await read(), { isJson, turn });
      const expandLine = async (url: string) => {
        const expansion = await expand.chain(url, { follow, signal, client, list });
        return { ...expansion, ...verdictOf(expansion) };
      };
      const { write, ...lines } = writeLines();
      processList(inTurns(urls, turn, keep), expandLine, write, { concurrency, onFault })
        .then(() => lines.end())
        .catch((error) => lines.end(error))
        .finally(end);
      return { headers: { ...apiHeaders, ...cors, ...noStore, ...unbuffered }, body: lines.pieces };
    } catch (error) {
      end();
      throw error;
    }
  };
}

/** @throws HTTPException 415 if the body is compressed, because it could grow without a limit. */
function checkCoding(c: Context): void {
  const coding = c.req.header('Content-Encoding')?.trim() || 'identity';
  if (coding.toLowerCase() === 'identity') return;
  throw new HTTPException(415, { message: 'The body has a Content-Encoding; send it uncompressed.' });
}

/** Lines per piece of the response. A line can have 100 KB. */
const linesAPiece = 8;

/**
 * Streams lines as JSON, in pieces of a few lines. Sends a blank line after 10 s without output.
 *
 * @returns `write` resolves once the client has taken all but a few lines, and rejects if the client disconnects.
 */
function writeLines() {
  const lines: BulkLine[] = [];
  let sent = Promise.withResolvers<void>();
  let hasLeft = false;
  const pieces = createPieceQueue(() => {
    hasLeft = true;
    sent.resolve();
  });
  const heartbeat = setInterval(() => {
    if (pieces.length === 0) pieces.push(() => '\n');
  }, maxSilence);
  const piece = () => {
    const next = lines.splice(0, linesAPiece);
    if (lines.length > 0) pieces.push(piece);
    heartbeat.refresh();
    sent.resolve();
    sent = Promise.withResolvers();
    return next.map((line) => `${asciiJson(line)}\n`).join('');
  };
  return {
    pieces,
    async write(line: BulkLine) {
      lines.push(line);
      if (lines.length === 1) pieces.push(piece);
      while (lines.length >= linesAPiece && !hasLeft) await sent.promise;
      if (hasLeft) throw new Error('The client has disconnected.');
    },
    end(error?: unknown) {
      clearInterval(heartbeat);
      pieces.end(error);
    },
  };
}
