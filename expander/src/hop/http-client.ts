import { LRUCache } from 'lru-cache';
import { atMost } from '../expansion/at-most.ts';
import type { Connect } from './connect.ts';
import { checkHeaders, type RequestOptions, type Response } from './exchange.ts';
import { http1Client } from './http1-client.ts';
import type { Outcome } from './http2-session.ts';
import { http2Sessions } from './http2-sessions.ts';

/**
 * What is known about an https origin:
 *
 * - `http1`: it speaks HTTP/1.1.
 * - `breaksHttp2`: it selected HTTP/2, but breaks it. It may speak HTTP/1.1.
 * - `breaksSessions`: it breaks HTTP/2, and does not speak HTTP/1.1. Each request gets a session of its own.
 */
type Knowledge = 'http1' | 'breaksHttp2' | 'breaksSessions';

/** Limits for the knowledge about origins. Times are in milliseconds. */
const knowledgeLimits = { ...atMost(10_000), ttl: 10 * 60 * 1_000 };

/** Error codes of a server that does not speak HTTP/1.1. */
const withoutHttp1 = /^(?:ECONNRESET|EPIPE|EPROTO|ERR_NOT_HTTP|ERR_SSL_.*)$/;

/**
 * Creates a client for HTTP/2 and HTTP/1.1. Over TLS, it offers both, and the server selects one (ALPN, RFC 7301). Without TLS,
 * it uses HTTP/1.1. An origin that breaks HTTP/2 gets HTTP/1.1 for ten minutes.
 *
 * @param headers alternating names and values, for all requests.
 */
export function httpClient(connect: Connect, headers: readonly string[] = []) {
  const http1 = http1Client(connect, headers);
  const known = new LRUCache<string, Knowledge>(knowledgeLimits);
  const sessions = http2Sessions(connect, (url, socket) => {
    known.set(url.origin, 'http1');
    http1.adopt(url, socket);
  });
  const common = fieldsOf(headers);
  const allFields = (options: RequestOptions) => ({ ...common, ...fieldsOf(options.headers) });

  /** Uses a shared session, if the server selects HTTP/2. @returns null if the request must be sent again. */
  const viaSession = async (
    url: URL,
    options: RequestOptions,
    isRetry: boolean,
  ): Promise<Response | null> => {
    const { origin } = url;
    const session = sessions.find(origin);
    if (!session) {
      await sessions.open(url, options.signal);
      return known.has(origin) ? null : viaSession(url, options, isRetry);
    }
    try {
      return await session.request(url, options, allFields(options));
    } catch (error) {
      options.signal?.throwIfAborted();
      const { outcome = 'failed' } = error as { outcome?: Outcome };
      if (outcome === 'failed') throw error;
      if (outcome === 'unsound' || isRetry) known.set(origin, 'breaksHttp2');
      return null;
    }
  };

  /** Uses HTTP/1.1 after HTTP/2 was broken. @returns null if the origin does not speak HTTP/1.1, either. */
  const viaHttp1 = async (url: URL, options: RequestOptions): Promise<Response | null> => {
    try {
      const response = await http1.request(url, options);
      known.set(url.origin, 'http1');
      return response;
    } catch (error) {
      options.signal?.throwIfAborted();
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!withoutHttp1.test(code)) throw error;
      if (known.get(url.origin) !== 'http1') known.set(url.origin, 'breaksSessions');
      return null;
    }
  };

  const attempt = (url: URL, options: RequestOptions, isRetry: boolean): Promise<Response | null> => {
    const knowledge = url.protocol === 'http:' ? 'http1' : known.get(url.origin);
    if (knowledge === 'http1') return http1.request(url, options);
    if (knowledge === 'breaksHttp2') return viaHttp1(url, options);
    if (knowledge === 'breaksSessions') return sessions.requestAlone(url, options, allFields(options));
    return viaSession(url, options, isRetry);
  };

  return {
    /**
     * Like the request of the HTTP/1.1 client. Sends a request again if the server did not process it, and over HTTP/1.1 if the
     * server breaks HTTP/2.
     */
    async request(url: URL, options: RequestOptions): Promise<Response> {
      for (let isRetry = false; ; isRetry = true) {
        options.signal?.throwIfAborted();
        const response = await attempt(url, options, isRetry);
        if (response) return response;
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
