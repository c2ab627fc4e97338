import manifest from '../../package.json' with { type: 'json' };
import { type ErrorFacts, errorCodes } from '../expansion/errors.ts';
import { dottedPath, maxCallbackName } from './api.ts';
import { asciiJson } from './ascii-json.ts';
import { errorStatuses } from './responses.ts';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const flag = { type: 'boolean' };
const orNull = ({ type, ...rest }: { type: string }) => ({ type: [type, 'null'], ...rest });
const record = (properties: Record<string, object>, optional: string[] = []) => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const query = (name: string, schema: object, description: string, required = false) => ({
  name,
  in: 'query',
  required,
  description,
  schema,
});

/** Optional fields of an error. */
const facts = {
  reason: text,
  detail: text,
  rate: record({ count, period: count, wait: count }),
} satisfies Record<keyof ErrorFacts, object>;
const codes = { enum: ['empty', 'fault', ...errorCodes] };
const failure = record({ code: codes, message: text, ...facts }, Object.keys(facts));
const error = { anyOf: [ref('Failure'), { type: 'null' }] };

const schemas = {
  Expanded: record({ url: text, longUrl: text, redirects: count }),
  Failure: failure,
  Chain: record({
    url: { ...text, description: '`u` as given.' },
    follow: { enum: ['default', 'all'] },
    hops: { type: 'array', items: ref('Hop') },
    longUrl: orNull(text),
    redirectCount: count,
    end: record({ code: text, message: text, target: text, ...facts }, ['target', ...Object.keys(facts)]),
    error,
    cached: flag,
  }),
  Hop: record(
    {
      url: text,
      kind: { enum: ['301', '302', '303', '307', '308', 'refresh', 'meta', 'wrapper', 'hsts', null] },
      status: orNull({ type: 'integer' }),
      location: orNull(text),
      method: { enum: ['HEAD', 'GET', null] },
      bytesRead: count,
      title: { ...text, maxLength: 120 },
      file: record({ name: text, size: orNull(count) }),
      scriptRedirect: flag,
      incomplete: flag,
      interrupted: flag,
      wrapper: text,
      addressFamily: { enum: [4, 6, null] },
      cached: flag,
      milliseconds: { type: 'number', minimum: 0 },
      tls: flag,
      downgrade: flag,
      domainChanged: flag,
      unicodeHost: orNull(text),
      mixedScripts: { type: 'array', items: text },
      imitates: orNull(text),
    },
    ['bytesRead', 'title', 'incomplete', 'interrupted', 'file', 'scriptRedirect', 'wrapper'],
  ),
  Line: record({
    line: { type: 'integer', minimum: 1 },
    url: text,
    longUrl: orNull(text),
    redirectCount: count,
    cached: flag,
    error,
  }),
};

const u = query(
  'u',
  { ...text, examples: ['https://example.com/'] },
  'The URL, percent-encoded. A missing scheme means `http://`.',
);
const callbackName = { ...text, pattern: dottedPath.source, maxLength: maxCallbackName };
const follow = query(
  'follow',
  text,
  '`all` goes where a browser goes; anything else follows 301 and 302 alone.',
);
const key = query('key', text, 'A named key, with a rate of its own; or Authorization: Bearer.');
/** `Content-Type: text/html`, as for all responses except those of `/api/chain`. */
const html = (...contents: object[]) => ({ 'text/html': { schema: { anyOf: contents } } });
const jsonText = (name: string) => ({
  ...text,
  contentMediaType: 'application/json',
  contentSchema: ref(name),
});
const chain = { 'application/json': { schema: ref('Chain') } };

/** A response for each status of an error. */
function failures(content: object, codes: readonly (typeof errorCodes)[number][] = errorCodes) {
  const statuses = Object.groupBy(codes, (code) => errorStatuses[code]);
  return Object.fromEntries(
    Object.entries(statuses).map(([status, codes = []]) => [
      status,
      { description: codes.join(', '), content },
    ]),
  );
}

const paths = {
  '/api': {
    get: {
      operationId: 'expand',
      summary: 'Where a short URL leads',
      parameters: [
        u,
        follow,
        key,
        query('format', text, '`json` for an object; anything else for plain text.'),
        query('cb', callbackName, 'JSONP: calls this function with the long URL.'),
        query('err', callbackName, 'JSONP: calls this function with a failure, with status 200.'),
      ],
      responses: {
        200: {
          description: 'The long URL, an object, or a call; without `u` a sentence',
          content: html({ ...text, description: 'The long URL, or a call.' }, jsonText('Expanded')),
        },
        ...failures(html({ ...text, description: 'One sentence.' }, jsonText('Failure'))),
      },
    },
  },
  '/api/chain': {
    get: {
      operationId: 'chain',
      summary: 'Every hop of a short URL',
      parameters: [u, follow, key],
      responses: { 200: { description: 'The chain', content: chain }, ...failures(chain) },
    },
  },
  '/api/expand': {
    post: {
      operationId: 'expandList',
      summary: 'Up to 10,000 URLs, one line of response each',
      parameters: [follow, key],
      requestBody: {
        content: {
          'text/plain': { schema: { ...text, description: 'One URL per line.' } },
          'application/json': { schema: { type: 'array', items: text, maxItems: 10_000 } },
        },
      },
      responses: {
        200: {
          description: 'A Line of JSON for each URL; a blank line after 10 s without one',
          content: html(jsonText('Line')),
        },
        ...failures(html(text)),
        408: { description: 'The list took longer than 30 s', content: html(text) },
        413: { description: 'The list is longer than 10,000 URLs or 8 MB', content: html(text) },
      },
    },
  },
};

const info = {
  title: 'Longhand expander',
  version: manifest.version,
  license: { name: 'MIT', identifier: 'MIT' },
  description: 'Says where short URLs lead. Bodies are ASCII; all but those of /api/chain are text/html.',
};

/** The description of the API (OpenAPI 3.1). */
export const openapi: string = asciiJson({
  openapi: '3.1.0',
  info,
  servers: [{ url: '/' }],
  paths,
  components: { schemas },
});
