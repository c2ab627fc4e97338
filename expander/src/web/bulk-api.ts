import type { Context } from 'hono';
import { expandAll, takingTurns } from '../bulk/bulk.ts';
import { bulkBodies } from '../bulk/bulk-body.ts';
import { readUrls } from '../bulk/url-list.ts';
import type { Expand } from '../expansion/expand.ts';
import { asciiJson } from './ascii-json.ts';
import { apiHeaders, noStore, unbuffered } from './headers.ts';
import { readParameters } from './parameters.ts';

/** `POST /api/expand`: many URLs, answered line by line. */
export function expandMany(expand: Expand, onFault: (fault: unknown) => void) {
  const inTurn = takingTurns(expand.trace);
  const readBody = bulkBodies();
  return async (c: Context): Promise<Response> => {
    const { follow } = readParameters(c);
    const { signal } = c.req.raw;
    const { text, release } = await readBody(c.req.raw);
    try {
      const urls = readUrls(text, { json: isJson(c.req.header('Content-Type')) });
      const lines = expandAll(inTurn, urls, { follow, signal, onFault });
      return new Response(ndjson(lines, release), { headers: { ...apiHeaders, ...noStore, ...unbuffered } });
    } catch (error) {
      release();
      throw error;
    }
  };
}

function isJson(contentType = ''): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(contentType);
}

/** Each value on a line of its own, made when it is asked for. `onEnd` is called at the end, or when the reader leaves. */
function ndjson(values: AsyncGenerator<unknown>, onEnd: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await values.next();
          if (!done) return controller.enqueue(encoder.encode(`${asciiJson(value)}\n`));
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        onEnd();
      },
      cancel: onEnd,
    },
    { highWaterMark: 0 },
  );
}
