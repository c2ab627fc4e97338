import { ServerResponse } from 'node:http';
import type { Span } from './spans.ts';

/** What the log and the metrics say of a request beyond method, path and status. */
export interface Annotations {
  /** The pattern of the matched route, such as `/tasks/:id`. */
  route?: string;
  /** The code of the error that the response reports. */
  error?: string | undefined;
  /** Whether the response lasts for as long as its client reads it. */
  endless?: boolean;
  /** The status with which the server itself ended the request, because its body is not HTTP. */
  refused?: number;
}

/** Node's response with the annotations of its request, and what the request waited for. */
export class AnnotatedResponse extends ServerResponse {
  readonly annotations: Annotations = {};
  readonly spans: Span[] = [];
}
