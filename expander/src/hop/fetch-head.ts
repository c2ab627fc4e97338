import type { FetchHop } from '../expansion/expansion.ts';
import { answerOf } from './answer.ts';
import type { Request } from './exchange.ts';

/** Requests hops by HEAD. */
export function fetchHead(request: Request): FetchHop {
  return async (url, { signal }) => answerOf(await request(url, { method: 'HEAD', signal }), 'HEAD');
}
