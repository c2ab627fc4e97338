import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scriptedApp, to } from '../../testing/scripted-web.ts';

const document = readFileSync(new URL('../../../docs/chain.md', import.meta.url), 'utf8');

/** The fields in the first column of the tables before and after the heading. */
const [answer, hop] = document
  .split('## A hop')
  .map((part) => [...part.matchAll(/^\| `(\w+)`/gm)].map(([, field]) => field));

test('every field of /api/chain is documented, and every documented field exists', async () => {
  const wrapper = 'https://www.google.com/url?q=http%3A%2F%2Fend.example%2F';
  const app = scriptedApp({ 'http://s.example/': to(wrapper), 'http://end.example/': { bytesRead: 1 } });
  const response = await app.request('/api/chain?u=s.example/&follow=all');
  const chain = (await response.json()) as { hops: object[] };
  expect(Object.keys(chain).sort()).toEqual(answer?.toSorted());
  const fields = chain.hops.flatMap((each) => Object.keys(each));
  expect([...new Set(fields)].sort()).toEqual(hop?.toSorted());
});
