import fc from 'fast-check';
import { getQueryParam, getQueryParams } from 'hono/utils/url';
import { expect, test } from 'vitest';
import { seed } from '../testing/random.ts';
import { readParameters, readQuery } from './parameters.ts';

test.each([
  ['the first value counts', '/?u=1&u=2', '1'],
  ['a plus sign is a space', '/?u=a+b%2Bc', 'a b+c'],
  ['a name of over 100 characters does not count', `/?${'%75'.repeat(33)}u=1&u=2`, '2'],
  ['digits of both cases count', '/?u=%4A%4a%c3%A9%', 'JJé%'],
  ['names may be encoded', '/?%75=1', '1'],
  ['a name alone has an empty value', '/?u', ''],
  ['a value may contain =', '/?u=a=b', 'a=b'],
  ['stray percent signs stay', '/?u=100%&v=%', '100%'],
  ['bytes that are not UTF-8 stay', '/?u=%E9t%C3%A9%25%', '%E9té%%'],
  ['a run of bytes stays as a whole', '/?u=%C4%E3%C3%A9', '%C4%E3%C3%A9'],
  ['the fragment does not count', '/?v=1#?u=1', undefined],
  ['a query in the fragment does not count', '/#?u=1', undefined],
  ['64 parameters count', `/?${'a&'.repeat(63)}u=1`, '1'],
  ['further parameters do not count', `/?${'a&'.repeat(64)}u=1`, undefined],
])('%s', (_, url, value) => {
  expect(readQuery(url).get('u')).toBe(value);
});

test('all() returns every value', () => {
  expect(readParameters('u=1&v=2&u=%33&%75').all('u')).toEqual(['1', '3', '']);
  expect(readParameters('').all('u')).toEqual([]);
});

test('a query means the same as to Hono', () => {
  const pieces = fc.constantFrom(
    'u',
    'v',
    '=',
    '&',
    '%',
    '+',
    '#',
    '?',
    '%75',
    '%e9',
    '%C3%A9',
    '%25',
    'é',
    '%zz',
  );
  const queries = fc.array(pieces, { maxLength: 20 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(queries, (query) => {
      const url = `http://a.example/?${query}`;
      const found = readQuery(url);
      for (const name of ['u', 'v']) {
        expect(found.get(name)).toBe(getQueryParam(url, name));
        expect(found.all(name)).toEqual(getQueryParams(url, name) ?? []);
      }
    }),
    { seed, numRuns: 1_000 },
  );
});
