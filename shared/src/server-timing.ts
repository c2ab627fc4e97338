import type { OutgoingHttpHeaders } from 'node:http';
import { AnnotatedResponse } from './observe.ts';

/** What requests wait for, by the first word of the span: its name in the header. */
const parts: Record<string, string> = { redis: 'redis', hop: 'hops' };

/**
 * A response whose `Server-Timing` header says, in milliseconds, how long the application took until the header was
 * sent (`app`), and how much of that it waited for its Redis and for the hops of a chain.
 */
export class TimedResponse extends AnnotatedResponse {
  readonly #arrived = performance.now();

  override writeHead(status: number, ...rest: unknown[]): this {
    const headers = rest.at(-1);
    // In the object where there is one: Node merges a header that is set before more slowly.
    if (typeof headers !== 'object') this.setHeader('Server-Timing', this.#times());
    else rest[rest.length - 1] = { ...(headers as OutgoingHttpHeaders), 'Server-Timing': this.#times() };
    return super.writeHead(status, ...(rest as [OutgoingHttpHeaders]));
  }

  #times(): string {
    let times = `app;dur=${rounded(performance.now() - this.#arrived)}`;
    if (this.spans.length === 0) return times;
    const waited: Record<string, number> = {};
    for (const { name, seconds = 0 } of this.spans) {
      const part = parts[name.split(' ', 1)[0] ?? ''];
      if (part) waited[part] = (waited[part] ?? 0) + seconds * 1_000;
    }
    for (const [part, milliseconds] of Object.entries(waited))
      times += `, ${part};dur=${rounded(milliseconds)}`;
    return times;
  }
}

/** Microseconds are enough. */
const rounded = (milliseconds: number) => Math.round(milliseconds * 1_000) / 1_000;
