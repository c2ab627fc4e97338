import type { Context } from 'hono';
import { createBodyReader } from '../bulk/bulk-body.ts';
import { createFairQueue } from '../bulk/fair-queue.ts';
import { createPause } from '../bulk/pause.ts';
import type { BulkLine } from '../bulk/process-list.ts';
import { processList } from '../bulk/process-list.ts';
import { readUrls } from '../bulk/url-list.ts';
import { within } from '../expansion/deadline.ts';
import type { Expand, TraceOptions } from '../expansion/expand.ts';
import { readRequest } from './api.ts';
import { formats } from './formats.ts';

/** Milliseconds without a line after which a blank one is sent: proxies give up on silence, the own one after 30 s. */
const maxSilence = 5_000;

/** `POST /api/expand`: a list of URLs, answered line by line. */
export function expandList(expand: Expand, onFault: (fault: unknown) => void) {
  const openList = createFairQueue();
  const pause = createPause();
  const readBody = createBodyReader();
  return async (c: Context): Promise<Response> => {
    const { follow, signal, client } = readRequest(c);
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
      const lines = processList(urls, unshorten, { signal, onFault, pause });
      return new Response(written(lines, end), { headers: formats.ndjson.headers });
    } catch (error) {
      end();
      throw error;
    }
  };
}

function isJson(contentType = ''): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(contentType);
}

/**
 * Writes each result on its own line when the reader pulls it, and a blank line after 5 s without one. Calls
 * `onEnd` at the end, or when the reader leaves.
 */
function written(lines: AsyncGenerator<BulkLine>, onEnd: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<BulkLine>> | undefined;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          next ??= lines.next();
          const result = await within(maxSilence, next, null);
          if (result?.done) {
            controller.close();
            return onEnd();
          }
          if (result) next = undefined;
          controller.enqueue(encoder.encode(result ? formats.ndjson.write(result.value) : '\n'));
        } catch (error) {
          controller.error(error);
          onEnd();
        }
      },
      cancel: onEnd,
    },
    { highWaterMark: 0 },
  );
}
