import { type ClientHttp2Stream, constants } from 'node:http2';
import { bodyTimeout, none, type RequestOptions, type Response } from './exchange.ts';
import { type Field, headersOf, headersTooLong, maxHeadSize, type ResponseHead } from './response-head.ts';

/** Maximum bytes of an unwanted body to receive. Resetting streams too often looks like an attack to servers. */
const maxUnwanted = 64 * 1024;

/** Length of `: ` and a line break, which a field would have in HTTP/1.1. */
const delimiters = 4;

interface ExchangeEvents {
  /** A head has arrived. */
  responded(): void;
  /** The response is complete as far as it is wanted. `resolve` passes it on. */
  succeeded(resolve: () => void): void;
  /** The stream has closed, which may be after the response. `code` is Node's error code, if any. */
  closed(code: string | undefined): void;
}

/** One request and its response on an HTTP/2 stream. */
export class Http2Exchange {
  readonly #outcome = Promise.withResolvers<Response>();
  readonly response = this.#outcome.promise;
  isSettled = false;
  readonly #stream: ClientHttp2Stream;
  readonly #options: RequestOptions;
  readonly #addressFamily: 4 | 6;
  readonly #events: ExchangeEvents;
  #headSize = 0;
  #head: ResponseHead | undefined;
  #limit = 0;
  #chunks: Buffer[] = [];
  #received = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    stream: ClientHttp2Stream,
    options: RequestOptions,
    addressFamily: 4 | 6,
    events: ExchangeEvents,
  ) {
    this.#stream = stream;
    this.#options = options;
    this.#addressFamily = addressFamily;
    this.#events = events;
    let code: string | undefined;
    stream
      .on('headers', (_headers, _flags, raw) => this.#read(() => this.#fields(raw)))
      .once('response', (_headers, flags, raw) => {
        events.responded();
        this.#read(() => this.#receiveHead(raw, (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0));
      })
      .on('data', (chunk: Buffer) => this.#receiveBody(chunk))
      .on('error', (error: NodeJS.ErrnoException) => {
        code = error.code;
      })
      .once('close', () => {
        clearTimeout(this.#timer);
        this.#succeed(stream.rstCode !== constants.NGHTTP2_NO_ERROR);
        events.closed(code);
      });
  }

  abort(reason: unknown): void {
    this.fail(reason);
    this.#cancel();
  }

  fail(reason: unknown): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.#outcome.reject(reason);
  }

  #read(fields: () => void) {
    try {
      fields();
    } catch (error) {
      this.abort(error);
    }
  }

  #receiveHead(raw: readonly string[], isEnd: boolean) {
    const fields = this.#fields(raw);
    const status = Number(fields.find(({ name }) => name === ':status')?.value);
    const head = { status, ...headersOf(fields) };
    const { method, bodyLimit } = this.#options;
    this.#head = head;
    this.#limit = method === 'HEAD' ? 0 : (bodyLimit?.(head) ?? 0);
    if (!isEnd) this.#timer = setTimeout(() => this.#expire(), bodyTimeout);
    if (this.#limit === 0) this.#succeed(false);
  }

  #receiveBody(chunk: Buffer) {
    if (this.#received < this.#limit) this.#chunks.push(chunk);
    this.#received += chunk.length;
    if (this.#received >= this.#limit) this.#succeed(false);
    if (this.#received >= this.#limit + maxUnwanted) this.#cancel();
  }

  #expire() {
    this.#succeed(true);
    this.#cancel();
  }

  #succeed(isCut: boolean) {
    if (this.isSettled || !this.#head) return;
    this.isSettled = true;
    const body = this.#limit > 0 ? Buffer.concat(this.#chunks).subarray(0, this.#limit) : none;
    this.#chunks = [];
    const response = { ...this.#head, addressFamily: this.#addressFamily, body, isCut, source: null };
    this.#events.succeeded(() => this.#outcome.resolve(response));
  }

  #cancel() {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  /** Converts alternating names and values. @throws `ERR_HEADERS_TOO_LONG`, also if all heads together are too long. */
  #fields(raw: readonly string[]): Field[] {
    const fields: Field[] = [];
    for (let i = 0; i < raw.length; i += 2) {
      const field = { name: `${raw[i]}`, value: `${raw[i + 1]}` };
      this.#headSize += field.name.length + field.value.length + delimiters;
      fields.push(field);
    }
    if (this.#headSize > maxHeadSize) throw headersTooLong();
    return fields;
  }
}
