import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scriptedApp, to } from '../../testing/scripted-web.ts';

const document = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');

/** The fields in the first column of the table under a heading. */
function fieldsUnder(heading: string): (string | undefined)[] {
  const [, section = ''] = document.split(`### ${heading}\n`);
  const [table = ''] = section.split('\n#');
  return [...table.matchAll(/^\| `(\w+)`/gm)].map(([, field]) => field);
}

test('every field of /api/chain is documented, and every documented field exists', async () => {
  const wrapper = 'https://www.google.com/url?q=http%3A%2F%2Fend.example%2F';
  const app = scriptedApp({
    'http://s.example/': to(wrapper),
    'http://end.example/': {
      ...{ bytesRead: 1, title: 'A page', incomplete: true, scriptRedirect: true },
      file: { name: 'a', size: null },
    },
  });
  const response = await app.request('/api/chain?u=s.example/&follow=all');
  const chain = (await response.json()) as { hops: object[] };
  expect(Object.keys(chain).sort()).toEqual(fieldsUnder('`/api/chain`').sort());
  const fields = chain.hops.flatMap((each) => Object.keys(each));
  expect([...new Set(fields)].sort()).toEqual(fieldsUnder('A hop').sort());
});
