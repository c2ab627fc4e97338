import type { Turns } from '@longhand/shared/turns.ts';
import type { Context } from 'hono';
import { createBodyReader } from '../bulk/bulk-body.ts';
import { type BulkLine, processList } from '../bulk/process-list.ts';
import { inTurns, readUrls } from '../bulk/url-list.ts';
import { overloaded } from '../expansion/errors.ts';
import type { Expand } from '../expansion/expand.ts';
import { createCounts } from '../expansion/expansion.ts';
import { type ReadRequest, readFollow } from './api.ts';
import { asciiJson } from './ascii-json.ts';
import { apiHeaders, noStore, unbuffered } from './responses.ts';

/** Maximum lines in progress per list. Hung hosts delay a list only once they block this many lines. */
const concurrency = 128;

/** Maximum lists in progress. Each list sends a line within 30 s even if all lists wait for one hung host. */
const maxLists = 128;
const maxListsOfClient = 16;

/** Maximum time without output (ms) before a list sends a blank line. nginx times out after 30 s. */
const maxSilence = 10_000;

/** `POST /api/expand`: returns a line for each URL in a list. */
export function expandList(
  expand: Expand,
  readRequest: ReadRequest,
  onFault: (fault: unknown) => void,
  turns: Turns,
) {
  const lists = createCounts();
  let last = 0;
  const readBody = createBodyReader();
  return async (c: Context): Promise<Response> => {
    const { signal, client } = await readRequest(c);
    const turn = () => turns([client], signal);
    const follow = readFollow(c.req.query('follow'));
    if (lists.count('all') >= maxLists || lists.count(client) >= maxListsOfClient) {
      throw overloaded('Too many URL lists are in progress');
    }
    for (const name of ['all', client]) lists.add(name, 1);
    last += 1;
    const list = last;
    const body = readBody(c.req.raw);
    const end = () => {
      for (const name of ['all', client]) lists.add(name, -1);
      body.release();
    };
    try {
      const isJson = /^application\/([\w.-]+\+)?json\b/i.test(c.req.header('Content-Type') ?? '');
      const urls = await readUrls(await body.text, { isJson, turn });
      const expandLine = (url: string) => expand.chain(url, { follow, signal, client, list });
      const { readable, writable } = new TextEncoderStream();
      const writer = writable.getWriter();
      // Ignore a failed write here: the next `writer.ready` rejects and ends the list.
      const send = (text: string) => writer.write(text).catch(() => {});
      const heartbeat = setInterval(send, maxSilence, '\n');
      const write = async (line: BulkLine) => {
        await writer.ready;
        heartbeat.refresh();
        send(`${asciiJson(line)}\n`);
      };
      processList(inTurns(urls, turn), expandLine, write, { concurrency, onFault })
        .then(() => writer.close())
        .catch((error) => writer.abort(error))
        .finally(() => {
          clearInterval(heartbeat);
          end();
        });
      return new Response(readable, { headers: { ...apiHeaders, ...noStore, ...unbuffered } });
    } catch (error) {
      end();
      throw error;
    }
  };
}
