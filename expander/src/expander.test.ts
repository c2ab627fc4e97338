import { logged } from '@longhand/shared/testing/logged.ts';
import { expect, test } from 'vitest';
import { testExpander } from '../testing/expander.ts';
import { website } from '../testing/website.ts';

test('the log warns about networks that are exempt from the guard', () => {
  const { lines, log } = logged();
  testExpander({ log }, { EXPANDER_ALLOWED_NETWORKS: '192.0.2.0/24' });
  expect(lines).toMatchObject([
    { level: 40, msg: 'THE PUBLIC-ADDRESS GUARD IS OFF for these networks', networks: ['192.0.2.0/24'] },
  ]);
});

test.each([
  [{ EXPANDER_MAX_REDIRECT: '2', EXPANDER_USER_AGENT: 'Probe/7 (test)' }, 2, 'Probe/7 (test)'],
  [{}, 5, expect.stringMatching(/^Longhand\//)],
])('the environment sets the redirect limit and the User-Agent: %j', async (env, redirects, agent) => {
  const requests: unknown[] = [];
  const url = await website(({ url, headers }, response) => {
    requests.push([headers['user-agent'], headers.accept, headers['accept-language']]);
    response.writeHead(301, { Location: `${url}/on` }).end();
  });
  const { expand, close } = testExpander({}, env);
  expect((await expand.chain(`${url}/a`)).longUrl).toBe(`${url}/a${'/on'.repeat(redirects + 1)}`);
  expect(requests).toEqual(Array(redirects + 1).fill([agent, expect.stringMatching(/html/), 'en']));
  close();
});
