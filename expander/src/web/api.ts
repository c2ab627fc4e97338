import { isIP } from 'node:net';
import type { Context } from 'hono';
import ip from 'ipaddr.js';
import { endedExpansion } from '../expansion/chain.ts';
import { ExpansionError, expansionError } from '../expansion/errors.ts';
import type { Expand } from '../expansion/expand.ts';
import { cdnId, type Expansion, type Follow, keyedClient } from '../expansion/expansion.ts';
import { type AnswerFormat, type AskedFor, formats } from './formats.ts';
import { cacheControl, cacheHit, openToAll, reportError, textResponse } from './responses.ts';

type Parameters = ReturnType<typeof readParameters>;

/** Writes expansions in formats of the API. `isOpen`: every website may read them, and caches give them past their time. */
export function createApi(expand: Expand, isOpen: boolean) {
  const answer = (c: Context, format: AnswerFormat, asked: AskedFor, expansion: Expansion): Response => {
    const { error, end, freshUntil, cached } = expansion;
    const { status, headers } = reportError(c, error);
    return textResponse(format.write(expansion, asked), {
      status: format.status ?? (end.code === 'empty' ? (format.emptyStatus ?? status) : status),
      headers: {
        ...format.headers,
        ...(isOpen && openToAll),
        ...cacheControl(freshUntil, isOpen && status === 200),
        ...(cached && cacheHit),
        ...headers,
      },
    });
  };
  /** Answers by `formatOf` what was asked; a failure by `failureFormat`, also that of the request itself. */
  const expandTo =
    (failureFormat: (asked: Asked) => AnswerFormat, formatOf: (asked: Parameters) => AnswerFormat) =>
    async (c: Context) => {
      const { u = '', err = '', format = '' } = c.req.query();
      let asked: Asked = { u, cb: '', err, format, follow: 'default' };
      try {
        const parameters = readParameters(c);
        asked = parameters;
        const successFormat = formatOf(parameters);
        const expansion = await expand.trace(parameters.u, parameters);
        return answer(c, isFailure(expansion) ? failureFormat(asked) : successFormat, asked, expansion);
      } catch (error) {
        // Nothing was expanded: this says something about the request, not about the URL.
        const expansion = { ...endedExpansion(asked.u, expansionError(error)), freshUntil: 0 };
        return answer(c, failureFormat(asked), asked, expansion);
      }
    };
  return {
    /** `GET /api`: the long URL as text, as JSON, or as a call. */
    text: expandTo(failureFormatOf, formatOf),
    /** `GET /api/chain`: every hop. */
    chain: expandTo(
      () => formats.chain,
      () => formats.chain,
    ),
  };
}

type Asked = AskedFor & Pick<Parameters, 'format'>;

const isFailure = ({ error, end }: Expansion) => error !== null || end.code === 'empty';

function failureFormatOf({ err, format }: Asked): AnswerFormat {
  if (format === 'json') return formats.json;
  return isCallbackName(err) ? formats.jsonpError : formats.text;
}

/** @throws ExpansionError `invalid_callback` */
function formatOf({ u, cb, err, format }: Parameters): AnswerFormat {
  if (u === '') return formats.text;
  for (const [argument, name] of Object.entries({ cb, err })) {
    if (name === '') continue;
    if (format === 'json') throw invalidCallback(`The \`${argument}\` argument does not go with JSON.`);
    if (!isCallbackName(name)) {
      throw invalidCallback(`The \`${argument}\` argument is not the name of a function.`);
    }
  }
  if (format === 'json') return formats.json;
  return cb === '' ? formats.text : formats.jsonp;
}

const invalidCallback = (message: string) => new ExpansionError('invalid_callback', message);

/** A dotted path of JavaScript identifiers in ASCII, like all bodies of the API. */
export const dottedPath = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;

/** Characters of the longest name of a callback. */
export const maxCallbackName = 128;

/** Whether `name` may be called in a JSONP response. */
export function isCallbackName(name: string): boolean {
  return name.length <= maxCallbackName && dottedPath.test(name);
}

/**
 * Reads the parameters and the client of a request. Any number of empty `u` counts as none.
 *
 * @throws ExpansionError if `u`, `cb` or `err` is given twice: the URL in `u` most likely was not percent-encoded. Also
 *   if an expander asks for an expansion: URLs that nest its own address would keep it busy with itself.
 */
export function readParameters(c: Context) {
  const { u = [''], cb = [''], err = [''], follow = [''], format = [''] } = c.req.queries();
  if (u.length > 1 && u.some((url) => url.trim() !== '')) {
    const message = 'The `u` argument is given more than once; percent-encode the URL in it.';
    throw new ExpansionError('invalid_url', message);
  }
  for (const [argument, { length }] of Object.entries({ cb, err })) {
    if (length > 1) throw invalidCallback(`The \`${argument}\` argument is given more than once.`);
  }
  const url = u[0]?.trim() ?? '';
  if ((url !== '' || c.req.method === 'POST') && isOwnRequest(c.req.header('CDN-Loop'))) {
    throw new ExpansionError('target_refused', 'This URL points back to this service.');
  }
  return {
    /** The URL to expand; empty if it is absent. */
    u: url,
    /** The name of the callback; empty if it is absent. */
    cb: cb[0] ?? '',
    /** The name of the callback for a failure; empty if it is absent. */
    err: err[0] ?? '',
    /** `json`, or anything else for the plain form. */
    format: format[0] ?? '',
    follow: (follow[0] === 'all' ? 'all' : 'default') as Follow,
    /** Aborted when the client leaves. */
    signal: c.req.raw.signal,
    client: clientOf(c),
  };
}

/** Whether a `CDN-Loop` field names an expander: then the request was made to expand a URL, and must not expand another. */
export function isOwnRequest(cdnLoop = ''): boolean {
  // The pattern also matches an unterminated string, or it would try each quote in it up to the end.
  const members = cdnLoop.replace(/"(?:[^"\\]|\\.)*("?)/gs, (text, end) => (end ? '' : text)).split(',');
  return members.some((member) => member.split(';', 1)[0]?.trim().toLowerCase() === cdnId);
}

/**
 * The client of a request, for limits: its key or its address as the proxy states it, else that of the connection. For
 * IPv6 it is the /64 network, as one client has all addresses of that.
 */
export function clientOf(c: Context): string {
  const name = c.req.header('x-key-name') ?? '';
  if (/^[a-z0-9-]{1,64}$/.test(name)) return keyedClient(name);
  const stated = c.req.header('x-forwarded-for') ?? '';
  // Who reaches the service without the proxy may state anything: names without end, each with limits of its own.
  const address = isIP(stated) ? stated : (c.env?.incoming?.socket.remoteAddress ?? '');
  if (isIP(address) !== 6) return address;
  const parsed = ip.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : (parsed as ip.IPv6).parts.slice(0, 4).join(':');
}
