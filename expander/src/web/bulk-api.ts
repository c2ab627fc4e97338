import { createPause } from '@longhand/shared/pause.ts';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { createBodyReader } from '../bulk/bulk-body.ts';
import { createFairQueue } from '../bulk/fair-queue.ts';
import { type BulkLine, processList } from '../bulk/process-list.ts';
import { readUrls, TooManyUrls } from '../bulk/url-list.ts';
import type { Expand, TraceOptions } from '../expansion/expand.ts';
import { readFollow, readRequest } from './api.ts';
import { formats } from './formats.ts';

/** Milliseconds without a line after which a blank one is sent: proxies give up on silence, the own one after 30 s. */
const maxSilence = 5_000;

/**
 * Expansions of one list at a time: fewer than the 64 that may wait for one origin, so that a list of links of one
 * shortener leaves room for single requests.
 */
const concurrency = 48;

/** `POST /api/expand`: a list of URLs, answered line by line. */
export function expandList(expand: Expand, onFault: (fault: unknown) => void) {
  const openList = createFairQueue();
  const pause = createPause();
  const readBody = createBodyReader();
  return async (c: Context): Promise<Response> => {
    const { signal, client } = readRequest(c);
    const follow = readFollow(c.req.query('follow'));
    const list = openList(client, signal);
    const { text, release } = await readBody(c.req.raw).catch((error) => {
      list.close();
      throw error;
    });
    const end = () => {
      list.close();
      release();
    };
    try {
      const urls = await readUrls(text, { json: isJson(c.req.header('Content-Type')), pause });
      const inTurn: TraceOptions['inTurn'] = ({ url }, work) => list.run(url.origin, work);
      const unshorten = (url: string) => expand.trace(url, { follow, signal, client, inTurn });
      const options = { concurrency, signal, onFault, pause };
      const lines = written((write) => processList(urls.values(), unshorten, write, options), end);
      return new Response(lines, { headers: formats.ndjson.headers });
    } catch (error) {
      end();
      throw error instanceof TooManyUrls ? new HTTPException(413, error) : error;
    }
  };
}

function isJson(contentType = ''): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(contentType);
}

/**
 * What `produce` writes, each result on its own line, as fast as the reader takes it, and a blank line after 5 s without
 * one. Calls `onEnd` at the end, or when the reader leaves.
 */
function written(
  produce: (write: (line: BulkLine) => Promise<void>) => Promise<void>,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const { readable, writable } = new TextEncoderStream();
  const writer = writable.getWriter();
  const send = async (text: string) => {
    await writer.ready;
    silence.refresh();
    // If the reader leaves, the next line learns of it.
    writer.write(text).catch(() => {});
  };
  const silence = setTimeout(() => send('\n').catch(() => {}), maxSilence);
  produce((line) => send(formats.ndjson.write(line)))
    .then(() => writer.close())
    .catch((error) => writer.abort(error))
    .finally(() => {
      clearTimeout(silence);
      onEnd();
    });
  return readable;
}
