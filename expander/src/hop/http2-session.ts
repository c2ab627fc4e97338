import http2 from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { connectionClosed } from './connect.ts';
import { maxIdleTime, type RequestOptions, type Response } from './exchange.ts';
import { Http2Exchange } from './http2-exchange.ts';

/** Streams per session until the server states its limit, and the most that we use. Common servers allow 100 or more. */
export const maxStreams = 100;

/** Maximum fields of a head. The byte limit alone would not stop a head of a million references to one long field (HPACK). */
const maxFields = 1_000;

/** Window of a session in bytes: the default window of a stream (RFC 9113 section 6.9.2) for each of its streams. */
const sessionWindow = maxStreams * 65_535;

/** Maximum bytes between two checks, for the session and for each request. A response needs less: a head and a full window. */
const allowance = 256 * 1024;

/**
 * Responses to pass on per turn of the event loop. Node sends the next requests at the end of a turn: after a hundred responses,
 * the server would have waited for the last one. With four, a list takes 7% less time than with all, and with one 25% more CPU.
 */
const responsesPerTurn = 4;

/** Milliseconds between two checks of a session. */
const checkInterval = 250;

/** A session takes no more requests if one is aborted after it waited this many milliseconds without any response. */
const maxSilence = 1_000;

/**
 * What the failure of a request means for the next attempt:
 *
 * - `unprocessed`: the server did not process the request. Retry it on another connection.
 * - `unsound`: the server breaks HTTP/2 or rejects it. Use HTTP/1.1.
 * - `failed`: the response to this request failed. Other requests are unaffected.
 */
export type Outcome = 'unprocessed' | 'unsound' | 'failed';

const { constants } = http2;

/** Outcomes of a reset stream, by error code (RFC 9113 section 7). All other codes mean `failed`. */
const outcomesOfReset: Record<number, Outcome> = {
  [constants.NGHTTP2_REFUSED_STREAM]: 'unprocessed',
  [constants.NGHTTP2_PROTOCOL_ERROR]: 'unsound',
  // Node also resets a stream with this code after `maxFields`. HTTP/1.1 will show whether the head is too long.
  [constants.NGHTTP2_ENHANCE_YOUR_CALM]: 'unsound',
  [constants.NGHTTP2_INADEQUATE_SECURITY]: 'unsound',
  [constants.NGHTTP2_HTTP_1_1_REQUIRED]: 'unsound',
};

/** Node's code for a violation of the protocol. Node then destroys the session, for example if a body follows HEAD. */
const violation = 'ERR_HTTP2_ERROR';

export interface SessionEvents {
  /** The last response has ended. */
  idle(session: Http2Session): void;
  /** The session takes no more requests. */
  retired(session: Http2Session): void;
}

/** An HTTP/2 session with one origin. Requests share it, each with a stream of its own. */
export class Http2Session {
  readonly origin: string;
  /** Number of streams that the server allows. */
  limit: number;
  readonly #socket: TLSSocket;
  readonly #session: http2.ClientHttp2Session;
  readonly #events: SessionEvents;
  readonly #addressFamily: 4 | 6;
  readonly #check: NodeJS.Timeout;
  /** Functions that pass on the responses that have arrived, oldest first. */
  readonly #arrived: (() => void)[] = [];
  #active = 0;
  /** Time of the latest head; 0 before the first. */
  #respondedAt = 0;
  #isRetired = false;
  #idleSince = performance.now();
  #allowed = allowance;

  /** @param limit the number of streams until the server states its limit. */
  constructor(url: URL, socket: TLSSocket, limit: number, events: SessionEvents) {
    this.origin = url.origin;
    this.limit = limit;
    this.#socket = socket;
    this.#events = events;
    this.#addressFamily = socket.remoteFamily === 'IPv6' ? 6 : 4;
    this.#session = http2.connect(url, {
      createConnection: () => socket,
      maxHeaderListPairs: maxFields,
      settings: { enablePush: false },
      // Browsers ignore white space around values, which RFC 9113 forbids.
      strictFieldWhitespaceValidation: false,
    });
    this.#session
      .once('connect', (session) => {
        if (!session.destroyed) session.setLocalWindowSize(sessionWindow);
      })
      .on('remoteSettings', ({ maxConcurrentStreams = maxStreams }) => {
        this.limit = Math.min(Math.max(maxConcurrentStreams, 1), maxStreams);
      })
      .on('error', () => this.#retire())
      .on('goaway', () => this.#retire())
      .on('close', () => this.#retire());
    this.#check = setInterval(() => this.#checkUp(), checkInterval).unref();
  }

  hasRoom(): boolean {
    return !this.#isRetired && !this.#session.closed && !this.#session.destroyed && this.#active < this.limit;
  }

  /** Sends a request. Requires `hasRoom`. @throws an error whose `outcome` is an `Outcome`, or the error of the head. */
  request(url: URL, options: RequestOptions, fields: Record<string, string>): Promise<Response> {
    const { method, signal } = options;
    const sentAt = performance.now();
    const target = { ':authority': url.host, ':scheme': 'https', ':path': url.pathname + url.search };
    const stream = this.#session.request({ ':method': method, ...target, ...fields }, { endStream: true });
    this.#active += 1;
    this.#allowed += allowance;
    const stop = () => {
      const isSilent = this.#respondedAt < sentAt && performance.now() - sentAt > maxSilence;
      if (isSilent) this.#retire();
      exchange.abort(signal?.reason);
    };
    const exchange = new Http2Exchange(stream, options, this.#addressFamily, {
      responded: () => {
        this.#respondedAt = performance.now();
      },
      succeeded: (resolve) => {
        if (this.#arrived.push(resolve) === 1) setImmediate(this.#passOn);
      },
      closed: (code) => {
        signal?.removeEventListener('abort', stop);
        if (!exchange.isSettled) exchange.fail(failure(this.#outcomeOf(stream.rstCode, code)));
        this.#active -= 1;
        if (this.#active === 0) this.#rest();
      },
    });
    signal?.addEventListener('abort', stop);
    return exchange.response;
  }

  /** Closes the session with all its streams. */
  close(): void {
    this.#retire();
    this.#destroy();
  }

  readonly #passOn = () => {
    for (const resolve of this.#arrived.splice(0, responsesPerTurn)) resolve();
    if (this.#arrived.length > 0) setImmediate(this.#passOn);
  };

  /** Takes no more requests, and closes after the last response. */
  #retire() {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#events.retired(this);
    if (this.#active === 0) this.#destroy();
  }

  #rest() {
    this.#idleSince = performance.now();
    if (this.#isRetired) this.#destroy();
    else this.#events.idle(this);
  }

  #destroy(error?: Error) {
    clearInterval(this.#check);
    this.#session.destroy(error);
    // Node would wait until the server closes its side, too.
    this.#socket.destroy();
  }

  #checkUp() {
    const isFlooded = this.#socket.bytesRead > this.#allowed;
    this.#allowed = this.#socket.bytesRead + allowance * (1 + this.#active);
    if (isFlooded)
      this.#destroy(Object.assign(new Error('the server floods the session'), { code: violation }));
    else if (this.#active === 0 && performance.now() - this.#idleSince > maxIdleTime) this.close();
  }

  /** @param code Node's error code. */
  #outcomeOf(resetCode: number | undefined, code: string | undefined): Outcome {
    if (code === violation) return 'unsound';
    // Servers close idle sessions at any time, but a session that never responded is no idle session.
    if (this.#session.destroyed || this.#socket.destroyed)
      return this.#respondedAt > 0 ? 'unprocessed' : 'unsound';
    return outcomesOfReset[resetCode ?? 0] ?? 'failed';
  }
}

function failure(outcome: Outcome) {
  return Object.assign(connectionClosed(), { outcome });
}
