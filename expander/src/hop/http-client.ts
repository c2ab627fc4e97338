import { LRUCache } from 'lru-cache';
import type { Connect } from './connect.ts';
import { checkHeaders, type RequestOptions, type Response } from './exchange.ts';
import { http1Client } from './http1-client.ts';
import type { Outcome } from './http2-session.ts';
import { http2Sessions } from './http2-sessions.ts';

/** Limits for the cache of origins that get HTTP/1.1. Times are in milliseconds. */
const http1Limits = { max: 10_000, ttl: 10 * 60 * 1_000 };

/**
 * Creates a client for HTTP/2 and HTTP/1.1. Over TLS, it offers both, and the server selects one (ALPN, RFC 7301). Without TLS,
 * it uses HTTP/1.1. Origins that do not select HTTP/2, or break it, get HTTP/1.1 for ten minutes.
 *
 * @param headers alternating names and values, for all requests.
 */
export function httpClient(connect: Connect, headers: readonly string[] = []) {
  const http1 = http1Client(connect, headers);
  const http1Origins = new LRUCache<string, true>(http1Limits);
  const sessions = http2Sessions(connect, (url, socket) => {
    http1Origins.set(url.origin, true);
    http1.adopt(url, socket);
  });
  const common = fieldsOf(headers);

  return {
    /**
     * Like the request of the HTTP/1.1 client. Repeats a request once if the server did not process it, and over HTTP/1.1 if the
     * server breaks HTTP/2.
     */
    async request(url: URL, options: RequestOptions): Promise<Response> {
      const { signal } = options;
      const { origin } = url;
      for (let isRetry = false; ; ) {
        signal?.throwIfAborted();
        if (url.protocol === 'http:' || http1Origins.has(origin)) return http1.request(url, options);
        const session = sessions.find(origin);
        if (!session) {
          await sessions.open(url, signal);
          continue;
        }
        try {
          return await session.request(url, options, { ...common, ...fieldsOf(options.headers) });
        } catch (error) {
          signal?.throwIfAborted();
          const { outcome = 'failed' } = error as { outcome?: Outcome };
          if (outcome === 'failed') throw error;
          if (outcome === 'unsound' || isRetry) http1Origins.set(origin, true);
          isRetry = true;
        }
      }
    },
    close() {
      sessions.close();
      http1.close();
    },
  };
}

/** Converts alternating names and values. Checks them, because `node:http2` does not. */
function fieldsOf(headers: readonly string[] = []): Record<string, string> {
  checkHeaders(headers);
  const fields: Record<string, string> = {};
  for (let i = 0; i < headers.length; i += 2) fields[`${headers[i]}`.toLowerCase()] = `${headers[i + 1]}`;
  return fields;
}
