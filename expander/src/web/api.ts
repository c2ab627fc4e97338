import { type LazyResponse, queryOf } from '@longhand/shared/routes.ts';
import type { Context } from 'hono';
import { ExpansionError } from '../expansion/errors.ts';
import type { Expansion } from '../expansion/expansion.ts';
import { type ExpandRequest, followArgument, oneOf } from './expand-request.ts';
import { cacheControl, formats, openToAll, type ResponseFormat, reportError } from './responses.ts';

/** Reads the parameters of an API request. Only the first value of a repeated parameter applies. */
function readQuery(c: Context) {
  const query = queryOf(c);
  return {
    u: query.get('u')?.trim() ?? '',
    cb: query.get('cb') ?? '',
    err: query.get('err') ?? '',
    format: query.get('format') ?? '',
    follow: followArgument(c),
  };
}

type Query = ReturnType<typeof readQuery>;

/** Creates the API handlers. @param isOpen whether to allow CORS and stale cached responses. */
export function createApi(expandRequest: ExpandRequest, isOpen: boolean) {
  const respond = (c: Context, format: ResponseFormat, query: Query, expansion: Expansion): LazyResponse => {
    const { error, end, freshUntil, cached } = expansion;
    const { status, headers } = reportError(c, error);
    return {
      status: format.status ?? (end.code === 'empty' ? (format.emptyStatus ?? status) : status),
      headers: {
        ...format.headers,
        ...(isOpen && openToAll),
        ...cacheControl(freshUntil, isOpen && status === 200),
        ...(cached && { 'Cache-Status': 'Longhand; hit' }),
        ...headers,
      },
      body: () => format.write(expansion, query),
    };
  };
  return {
    /** `GET /api`: the long URL as text, JSON or a JSONP call. */
    async text(c: Context) {
      const query = readQuery(c);
      const expansion = await expandRequest(c, query, () => checkArguments(query));
      return respond(c, textFormat(query, expansion), query, expansion);
    },
    /** `GET /api/chain`: every hop. */
    async chain(c: Context) {
      const query = readQuery(c);
      return respond(c, formats.chain, query, await expandRequest(c, query));
    },
  };
}

function textFormat({ cb, err, format }: Query, { error, end }: Expansion): ResponseFormat {
  if (format === 'json') return formats.json;
  if (error || end.code === 'empty') return isCallbackName(err) ? formats.jsonpError : formats.text;
  return cb === '' ? formats.text : formats.jsonp;
}

/**
 * Checks the arguments that say how to write the response. They have no effect without a URL.
 *
 * @throws ExpansionError `invalid_callback` or `invalid_argument`
 */
function checkArguments({ u, cb, err, format }: Query): void {
  if (u === '') return;
  if (format !== '') oneOf('format', format, ['text', 'json']);
  for (const [argument, name] of Object.entries({ cb, err })) {
    const fault = name === '' ? null : callbackFault(name, format);
    if (fault) throw new ExpansionError('invalid_callback', `The \`${argument}\` argument ${fault}.`);
  }
}

function callbackFault(name: string, format: string): string | null {
  if (format === 'json') return 'cannot be combined with format=json';
  return isCallbackName(name) ? null : 'is not a function name';
}

/** Matches a dotted path of ASCII JavaScript identifiers. */
export const dottedPath = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;

/** Maximum length of a callback name, in characters. */
export const maxCallbackName = 128;

/** Whether a JSONP response may call `name`. */
export function isCallbackName(name: string): boolean {
  return name.length <= maxCallbackName && dottedPath.test(name);
}
