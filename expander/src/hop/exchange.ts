import type { Source } from '../expansion/expansion.ts';
import { omit } from '../expansion/omit.ts';
import { type BodyReader, bodyReader } from './body-reader.ts';
import { headReader, notHttp, type ParsedHead, type ResponseHead } from './response-head.ts';

/** Maximum milliseconds from the end of the headers to the end of the body. */
export const bodyTimeout = 1_000;

/** Maximum milliseconds to keep an idle connection open. Node's HTTP server closes idle connections after 5 s. */
export const maxIdleTime = 4_000;

/** Close an idle connection this many milliseconds before the server does. */
const idleMargin = 1_000;

export interface Response extends ResponseHead {
  addressFamily: 4 | 6 | null;
  body: Buffer;
  /** Whether the body was truncated, by the server or by the timeout. */
  isCut: boolean;
  /** The reused connection; null if the response cannot belong to another request. */
  source: Source | null;
}

export interface RequestOptions {
  method: 'HEAD' | 'GET';
  /** Additional headers: alternating names and values. */
  headers?: readonly string[];
  /** Returns the max number of body bytes to read; 0 by default. */
  bodyLimit?: (head: ResponseHead) => number;
  signal?: AbortSignal | undefined;
}

export type Request = (url: URL, options: RequestOptions) => Promise<Response>;

interface Carrier {
  readonly addressFamily: 4 | 6 | null;
  close(): void;
}

/** One request and its response over HTTP/1.1. The client may retry it once on a new connection. */
export class Exchange {
  readonly url: URL;
  readonly method: 'HEAD' | 'GET';
  /** The serialized request, in Latin-1. */
  readonly message: string;
  /** Milliseconds to keep the connection after the response; 0 closes it, as after an incomplete response to GET. */
  idleTime = 0;
  readonly #options: RequestOptions;
  readonly #outcome = Promise.withResolvers<Response>();
  readonly response = this.#outcome.promise;
  #connection: Carrier | undefined;
  #source: Source | null = null;
  #headReader = headReader();
  #hasBegun = false;
  #isSettled = false;
  #head: ParsedHead | undefined;
  #isComplete = false;
  #body: BodyReader | undefined;
  #bodyTimer: NodeJS.Timeout | undefined;

  /** @param fields serialized headers that are common to all requests. */
  constructor(url: URL, options: RequestOptions, fields: string) {
    this.url = url;
    this.method = options.method;
    this.message = requestMessage(url, options, fields);
    this.#options = options;
    options.signal?.addEventListener('abort', this.#abort);
  }

  /** Starts or restarts the exchange on `connection`. @param source null on a new connection. */
  begin(connection: Carrier, source: Source | null): void {
    this.#connection = connection;
    this.#source = source;
    this.#headReader = headReader();
    this.#hasBegun = false;
    this.#head = undefined;
    this.#isComplete = false;
    this.idleTime = 0;
  }

  /**
   * Parses received text.
   *
   * @returns the text after the response; null while the response is incomplete.
   * @throws if the response is not HTTP.
   */
  receive(text: string): string | null {
    this.#hasBegun = true;
    if (this.#body) return this.#body.read(text) ? '' : null;
    const read = this.#headReader.read(text);
    return read && this.#receiveHead(read.head, read.rest);
  }

  /**
   * Whether unsolicited bytes may still show that the response belongs to another request. False after an incomplete response to
   * GET, because its connection closes immediately.
   */
  get isInDoubt(): boolean {
    return this.#source !== null && (this.method === 'HEAD' || this.#isComplete);
  }

  /**
   * Whether a late body may follow, even after HEAD. It would look like the start of the next response. False if the end of the
   * response is certain: it states a length and as many bytes have arrived with the head, or its chunked body is empty.
   */
  get mayLeaveBody(): boolean {
    return !this.#isComplete;
  }

  /** Whether to retry the request, because the server closed the idle connection or sent unsolicited bytes. */
  shouldRetry(error?: unknown): boolean {
    if (this.#isSettled || !this.#source) return false;
    const { code = '' } = (error ?? {}) as NodeJS.ErrnoException;
    const wasStale = !this.#hasBegun && (code === 'ECONNRESET' || code === 'EPIPE');
    return wasStale || this.#source.hasStrayed;
  }

  succeed(isCut = this.#body?.isDamaged() ?? false): void {
    if (this.#isSettled || !this.#head) return;
    this.#settle();
    const head = omit(this.#head, parserFields);
    const addressFamily = this.#connection?.addressFamily ?? null;
    const body = this.#body?.body() ?? none;
    const source = this.isInDoubt ? this.#source : null;
    this.#outcome.resolve({ ...head, addressFamily, body, isCut, source });
  }

  /**
   * Handles a connection error. Succeeds if only the body is truncated. Accepts a head without the final empty line over http,
   * but not over https, where an attacker may have truncated the head.
   */
  fail(error: unknown): void {
    const { isEnd = false } = error as { isEnd?: boolean };
    let reason = error;
    try {
      if (isEnd && this.#hasBegun && this.url.protocol === 'http:') this.#head ??= this.#headReader.end();
    } catch (fault) {
      reason = fault;
    }
    this.succeed(this.#body && !(isEnd && this.#body.endsWithConnection));
    if (this.#isSettled) return;
    this.#settle();
    this.#outcome.reject(reason);
  }

  #receiveHead(head: ParsedHead, rest: string): string | null {
    // The text is a late body followed by the real response.
    if (this.#source && head.containsAnother) throw notHttp();
    this.#head = head;
    const length = bodyLength(head, rest);
    if (this.method === 'HEAD') {
      this.#isComplete = length === 0;
      this.idleTime = idleTime(head);
      return rest;
    }
    const limit = this.#options.bodyLimit?.(head) ?? 0;
    if (limit === 0) {
      this.#isComplete = rest.length >= length;
      if (!this.#isComplete) return '';
      this.idleTime = idleTime(head);
      return rest.slice(length);
    }
    this.#body = bodyReader(head.headers, limit);
    this.#bodyTimer = setTimeout(() => this.#connection?.close(), bodyTimeout);
    return this.#body.read(rest) ? '' : null;
  }

  readonly #abort = () => {
    this.#settle();
    this.#outcome.reject(this.#options.signal?.reason);
    this.#connection?.close();
  };

  #settle() {
    this.#isSettled = true;
    clearTimeout(this.#bodyTimer);
    this.#options.signal?.removeEventListener('abort', this.#abort);
  }
}

/** Fields of a head that only the exchange needs. */
const parserFields = new Set(['minorVersion', 'containsAnother'] as const);

/** An empty body. */
export const none = Buffer.alloc(0);

/** Characters that headers must not contain (RFC 9110 section 5.5). */
const control = /[^\t\x20-\x7e\x80-\xff]/;

function requestMessage(
  { host, pathname, search }: URL,
  { method, headers }: RequestOptions,
  fields: string,
): string {
  const more = headers ? fieldLines(headers) : '';
  return `${method} ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive\r\n${fields}${more}\r\n`;
}

/** @throws TypeError for a control character, which could start another header. */
export function checkHeaders(headers: readonly string[]): void {
  if (control.test(headers.join(''))) throw new TypeError('a header contains a control character');
}

/** Serializes alternating names and values. @throws TypeError for a control character. */
export function fieldLines(headers: readonly string[]): string {
  checkHeaders(headers);
  let lines = '';
  for (let i = 0; i < headers.length; i += 2) lines += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return lines;
}

/** An empty chunked body, which PHP and Node send with a redirect. */
const noChunks = '0\r\n\r\n';

/**
 * Length of the body as sent, in bytes; NaN if it is not certain, or stated in two ways.
 *
 * @param rest the text after the head.
 */
function bodyLength({ headers }: ParsedHead, rest: string): number {
  const { 'content-length': length = '', 'transfer-encoding': encoding } = headers;
  if (length === '' && encoding === 'chunked' && rest.startsWith(noChunks)) return noChunks.length;
  return encoding === undefined && /^\d+$/.test(length) ? Number(length) : Number.NaN;
}

/** Milliseconds to keep the connection after this response; 0 closes it. */
function idleTime({ headers, minorVersion }: ParsedHead): number {
  const connection = headers.connection ?? '';
  const isKept = minorVersion === 0 ? /\bkeep-alive\b/i.test(connection) : !/\bclose\b/i.test(connection);
  if (!isKept) return 0;
  const stated = /\btimeout=(\d{1,9})\b/i.exec(`${headers['keep-alive'] ?? ''}`)?.[1];
  return stated ? Math.max(Math.min(maxIdleTime, Number(stated) * 1_000 - idleMargin), 0) : maxIdleTime;
}
