import manifest from '../../package.json' with { type: 'json' };
import { type ErrorFacts, errorCodes } from '../expansion/errors.ts';
import { dottedPath, maxCallbackName } from './api.ts';
import { asciiJson } from './ascii-json.ts';
import { warnings } from './endings.ts';
import { errorStatuses } from './responses.ts';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const flag = { type: 'boolean' };
const list = (items: object) => ({ type: 'array', items });
const orNull = ({ type, ...rest }: { type: string }) => ({ type: [type, 'null'], ...rest });
const record = (required: Record<string, object>, optional: Record<string, object> = {}) => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
});
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const facts = {
  reason: text,
  detail: text,
  rate: record({ count, period: count, wait: count }),
} satisfies Record<keyof ErrorFacts, object>;
const outcome = {
  url: text,
  longUrl: orNull(text),
  redirectCount: count,
  cached: flag,
  error: { anyOf: [ref('Failure'), { type: 'null' }] },
};

const end = record({ code: text, message: text }, { target: text, ...facts });
const verdict = { end, reason: text, warning: { enum: [...warnings, null] } };

const schemas = {
  Expanded: record({ url: text, longUrl: text, redirects: count, ...verdict }),
  Failure: record(
    { code: { enum: ['empty', 'fault', ...errorCodes] }, message: text },
    { ...facts, ...verdict },
  ),
  Chain: record({
    ...outcome,
    follow: { enum: ['default', 'all'] },
    hops: list(ref('Hop')),
    ...verdict,
  }),
  Hop: record(
    {
      url: text,
      kind: { enum: ['301', '302', '303', '307', '308', 'refresh', 'meta', 'wrapper', 'hsts', null] },
      status: orNull(count),
      location: orNull(text),
      method: { enum: ['HEAD', 'GET', null] },
      addressFamily: { enum: [4, 6, null] },
      cached: flag,
      milliseconds: { type: 'number', minimum: 0 },
      tls: flag,
      downgrade: flag,
      domainChanged: flag,
      unicodeHost: orNull(text),
      mixedScripts: list(text),
      imitates: orNull(text),
    },
    {
      bytesRead: count,
      title: { ...text, maxLength: 120 },
      file: record({ name: text, size: orNull(count) }, { saved: flag }),
      scriptRedirect: flag,
      laterRefresh: record({ seconds: { type: 'number' }, url: text }),
      incomplete: flag,
      interrupted: flag,
      wrapper: text,
    },
  ),
  Line: record({ line: { type: 'integer', minimum: 1 }, ...outcome, ...verdict }),
};

const query = (name: string, schema: object, description: string) => ({
  name,
  in: 'query',
  description,
  schema,
});
const u = query(
  'u',
  { ...text, examples: ['https://example.com/'] },
  'The URL, percent-encoded. A missing scheme means `http://`.',
);
const options = [
  query(
    'follow',
    { ...text, enum: ['default', 'all'] },
    '`all` follows redirects like a browser, `default` only 301 and 302.',
  ),
  query('key', text, 'A key with its own rate limit. `Authorization: Bearer` also works.'),
];
const callbackName = { ...text, pattern: dottedPath.source, maxLength: maxCallbackName };

const html = (...contents: object[]) => ({ 'text/html': { schema: { anyOf: contents } } });
const json = (name: string) => ({ ...text, contentMediaType: 'application/json', contentSchema: ref(name) });
const chain = { 'application/json': { schema: ref('Chain') } };

/** Returns the error responses by status. */
function failures(content: object) {
  const statuses = Object.groupBy(errorCodes, (code) => errorStatuses[code]);
  return Object.fromEntries(
    Object.entries(statuses).map(([status, codes]) => [status, { description: codes?.join(', '), content }]),
  );
}

const paths = {
  '/api': {
    get: {
      operationId: 'expand',
      summary: 'Expand a short URL',
      parameters: [
        u,
        ...options,
        query(
          'format',
          { ...text, enum: ['text', 'json'] },
          '`json` for a JSON object, `text` for plain text.',
        ),
        query('cb', callbackName, 'JSONP: calls this function with the long URL.'),
        query('err', callbackName, 'JSONP: calls this function with an error, with status 200.'),
      ],
      responses: {
        200: {
          description: 'The long URL as text, JSON or a JSONP call. Without `u`, an error message.',
          content: html({ ...text, description: 'The long URL, or a JSONP call.' }, json('Expanded')),
        },
        ...failures(html({ ...text, description: 'An error message.' }, json('Failure'))),
      },
    },
  },
  '/api/chain': {
    get: {
      operationId: 'chain',
      summary: 'List every hop of a short URL',
      parameters: [u, ...options],
      responses: { 200: { description: 'The chain', content: chain }, ...failures(chain) },
    },
  },
  '/api/expand': {
    post: {
      operationId: 'expandList',
      summary: 'Expand up to 10,000 URLs, with one response line each',
      parameters: options,
      requestBody: {
        content: {
          'text/plain': { schema: { ...text, description: 'One URL per line.' } },
          'application/json': { schema: { ...list(text), maxItems: 10_000 } },
        },
      },
      responses: {
        200: {
          description: 'A JSON line for each URL, and a blank line after every 10 s of silence',
          content: html(json('Line')),
        },
        ...failures(html(text)),
        408: { description: 'The list took longer than 30 s', content: html(text) },
        413: { description: 'The list is longer than 10,000 URLs or 8 MB', content: html(text) },
        415: { description: 'The list is compressed', content: html(text) },
      },
    },
  },
};

/** The OpenAPI 3.1 description of the API. */
export const openapi: string = asciiJson({
  openapi: '3.1.0',
  info: {
    title: 'Longhand expander',
    version: manifest.version,
    license: { name: 'MIT', identifier: 'MIT' },
    description: 'Expands short URLs. Response bodies are ASCII and text/html, except JSON from /api/chain.',
  },
  servers: [{ url: '/' }],
  paths,
  components: { schemas },
});
