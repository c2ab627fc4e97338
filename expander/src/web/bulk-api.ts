import type { Turns } from '@longhand/shared/turns.ts';
import type { Context } from 'hono';
import { createBodyReader } from '../bulk/bulk-body.ts';
import { createFairQueue } from '../bulk/fair-queue.ts';
import { type BulkLine, processList } from '../bulk/process-list.ts';
import { inTurns, readUrls } from '../bulk/url-list.ts';
import type { Expand, TraceOptions } from '../expansion/expand.ts';
import { readFollow, readRequest } from './api.ts';
import { asciiJson } from './ascii-json.ts';
import { apiHeaders, noStore, unbuffered } from './responses.ts';

/**
 * Expansions of one list at a time: fewer than the 64 that may wait for one origin, so that a list of links of one
 * shortener leaves room for single requests.
 */
const concurrency = 48;

/** `POST /api/expand`: a list of URLs, answered line by line. */
export function expandList(expand: Expand, onFault: (fault: unknown) => void, turns: Turns) {
  const openList = createFairQueue();
  const readBody = createBodyReader();
  return async (c: Context): Promise<Response> => {
    const { signal, client } = readRequest(c);
    const turn = () => turns([client], signal);
    const follow = readFollow(c.req.query('follow'));
    const list = openList(client, signal);
    const body = readBody(c.req.raw);
    const end = () => {
      list.close();
      body.release();
    };
    try {
      const urls = await readUrls(await body.text, { json: isJson(c.req.header('Content-Type')), turn });
      const inTurn: TraceOptions['inTurn'] = ({ url }, work) => list.run(url.origin, work);
      const unshorten = (url: string) => expand.trace(url, { follow, signal, client, inTurn });
      const { readable, writable } = new TextEncoderStream();
      const writer = writable.getWriter();
      const write = async (line: BulkLine) => {
        await writer.ready;
        // If the reader leaves, the next line learns of it and ends the list.
        writer.write(`${asciiJson(line)}\n`).catch(() => {});
      };
      processList(inTurns(urls, turn), unshorten, write, { concurrency, onFault })
        .then(() => writer.close())
        .catch((error) => writer.abort(error))
        .finally(end);
      return new Response(readable, { headers: { ...apiHeaders, ...noStore, ...unbuffered } });
    } catch (error) {
      end();
      throw error;
    }
  };
}

function isJson(contentType = ''): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(contentType);
}
