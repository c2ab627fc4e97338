import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Hono's readers, which throw and catch an error for each malformed byte. 31 KB of `%&` took them 118 ms. */
const costly = /\breq\s*\.(?:query|queries|param|parseBody)\(|\b(?:getCookie|getSignedCookie)\b/;

/** Responses that are made without the client's turn. `LazyResponse` is made in a turn (see shared/src/routes.ts). */
const early = /\bnew (?:Response|Hono)\b|\bc\.(?:text|json|html|body|redirect|notFound)\(/;

const sources = () => {
  const paths = ['expander/src/*.ts', 'tasks/src/*.ts', ':!*.test.ts'];
  return execFileSync('git', ['ls-files', '--', ...paths], { encoding: 'utf8' })
    .trim()
    .split('\n');
};

test.each([
  ['reads requests with queryOf and readCookie', costly],
  ['responds through createRoutes', early],
])('every file of the services %s', (_, pattern) => {
  const found = sources().filter((file) => pattern.test(readFileSync(file, 'utf8')));
  expect(found).toEqual([]);
  expect(sources().length).toBeGreaterThan(100);
});

test.each(['c.req.query("u")', 'request.req.queries()', 'getCookie(c, "session")'])('%s is found', (code) =>
  expect(costly.test(code)).toBe(true),
);
