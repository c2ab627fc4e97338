import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { serve } from '@longhand/shared/serve.ts';
import { longestTurn } from '@longhand/shared/testing/longest-turn.ts';
import { seed } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp, type Visitor, visit } from '../testing/app.ts';
import { startStore } from '../testing/store.ts';

let kept: Awaited<ReturnType<typeof startStore>>;
let visitor: Visitor;
let port: number;
const stop = new AbortController();

beforeAll(async () => {
  kept = await startStore();
  const app = testApp(kept.store);
  visitor = await visit(app);
  ({ port } = await serve(app, { host: '127.0.0.1', port: 0, signal: stop.signal }));
});
afterAll(async () => {
  stop.abort();
  await kept.stop();
});

interface Sent {
  method?: string;
  path?: string;
  headers?: OutgoingHttpHeaders;
  body?: string;
}

async function send({ method = 'GET', path = '/', headers = {}, body }: Sent): Promise<void> {
  const sent = request({ port, method, path, headers, setHost: false });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'close');
}

const post = (path: string, type: string, body: string, headers: OutgoingHttpHeaders = {}): Sent => ({
  method: 'POST',
  path,
  headers: { Host: 'tasks', Origin: 'http://tasks', 'Content-Type': type, ...headers },
  body,
});
const form = (path: string, field: string, text: string) =>
  post(path, 'application/x-www-form-urlencoded', `_csrf=${visitor.token}&${field}${text}`, {
    Cookie: visitor.cookie,
  });
const header = (name: string, path = '/', method = 'GET') => ({
  size: 60_000,
  sent: (text: string): Sent => ({ method, path, headers: { Host: 'tasks', [name]: text } }),
});

/** Marks that normalization sorts: the more there are in a row, the longer for each. */
const marks = ['\u0301\u0316', '\u0345\u0301\u0327\u0334', '\u05b0', 'a', 'é', '\u1100', '\u{1611e}'];
const words = [' ', ',', ';', '=', '"', '\\', '/', '*', 'q', '\t', 'W/', 'text/html', '0.5'];
const hosts = ['%cc%81', '%cc%96', 'a', '.', 'xn--', '%e2%80%8d', ':', '@', '/'];

const inputs = [
  { name: 'the title of a form', alphabet: marks, size: 64_000, sent: (t) => form('/task', 'title=', t) },
  {
    name: 'a title in JSON',
    alphabet: marks,
    size: 64_000,
    sent: (t) => post('/tasks', 'application/json', JSON.stringify({ title: t })),
  },
  {
    name: 'a form',
    alphabet: ['&', '=', '%', '%41', '+', 'a', 'title', '_csrf', 'é'],
    size: 64_000,
    sent: (t) => form('/task', '', t),
  },
  {
    name: 'JSON',
    alphabet: ['[', '{', '"title":', '"a"', ',', ' ', '\\u0041', '}', ']', '1e9'],
    size: 64_000,
    sent: (t) => post('/tasks', 'application/json', t),
  },
  {
    name: 'a form of lines',
    alphabet: [...marks, '\n', '\r', '- [x] ', ' '],
    size: 64_000,
    sent: (t) => form('/tasks/import', 'text=', t),
  },
  {
    name: 'a file of lines',
    alphabet: [...marks, '\n', '\r', '- [x] ', ' ', `${'\u0301\u0316'.repeat(990)}\n`],
    size: 256_000,
    sent: (t) => post('/tasks/import', 'text/plain', t),
  },
  {
    name: 'a file of JSON',
    alphabet: ['[', ']', '{"title":"', '"}', ',', '\n', '\\', ' ', '\u0301\u0316', '1', '{'],
    size: 256_000,
    sent: (t) => post('/tasks/import', 'application/json', t),
  },
  {
    name: 'an array on one line',
    alphabet: [`{"title":"a${'\u0301\u0316'.repeat(990)}"},`, '{"title":"a"},', '1,', '[],'],
    size: 64_000,
    sent: (t) => post('/tasks/import', 'application/x-ndjson', `[${t}{"title":"a"}]`),
  },
  { name: 'Accept', alphabet: words, ...header('Accept') },
  { name: 'Content-Type', alphabet: words, ...header('Content-Type', '/tasks', 'POST') },
  { name: 'If-None-Match', alphabet: words, ...header('If-None-Match', '/tasks/partial') },
  { name: 'If-Match', alphabet: words, ...header('If-Match', '/tasks/1', 'DELETE') },
  { name: 'Accept-Encoding', alphabet: words, ...header('Accept-Encoding', '/public/style.css') },
  { name: 'Cookie', alphabet: [...words, 'session=', 'x'.repeat(22)], ...header('Cookie') },
  { name: 'Purpose', alphabet: [...words, 'pre', 'fetch'], ...header('Purpose', '/task/1/finish') },
  {
    name: 'the hosts of a request, its origin and its referrer',
    alphabet: hosts,
    size: 20_000,
    sent: (t) => ({
      path: '/task/1/finish',
      headers: { Host: `a${t}`, Origin: `http://a${t}`, Referer: `http://a${t}/` },
    }),
  },
  { name: 'the path', alphabet: words.concat(hosts), size: 30_000, sent: (t) => at(`/task/${t}`) },
  {
    name: 'the query',
    alphabet: ['&', '=', '%41', 'filter', 'a', '+', '?'],
    size: 30_000,
    sent: (t) => at(`/?${t}`),
  },
] satisfies { name: string; alphabet: string[]; size: number; sent: (text: string) => Sent }[];

const at = (path: string): Sent => ({
  path: encodeURI(path).replaceAll('%25', '%'),
  headers: { Host: 'tasks' },
});

test.each(inputs)(
  'Nobody waits for 100 ms because of $name, whatever is repeated in it',
  { timeout: 600_000 },
  async ({ alphabet, size, sent }) => {
    await send(sent('a'));
    const unit = fc.array(fc.constantFrom(...alphabet), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(unit, async (parts) => {
        const text = parts.join('');
        const repeated = text.repeat(Math.ceil(size / Buffer.byteLength(text)));
        expect(await longestTurn(() => send(sent(repeated)))).toBeLessThan(100);
      }),
      // First each part alone.
      { seed, examples: alphabet.map((part) => [[part]]), numRuns: rounds({ short: 20, long: 1_000 }) },
    );
  },
);
