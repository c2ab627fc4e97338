import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { answerTo, ask, serving } from '../../testing/serving.ts';
import { website } from '../../testing/website.ts';

/** Posts a list to the service at `url`. */
const post = (url: string, client: string, links: string[]) =>
  ask(url, '/api/expand', links.join('\n'), { 'X-Forwarded-For': client });

const numbered = (count: number, link: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => link(i));

/** Hop timeouts use the real clock, so an attempt may fail on a busy machine. */
const retry = { retry: 3 };

/** Starts a website with a latency of 50 ms. `startShortener` starts a shortener that redirects to this website. */
async function websites() {
  const site = await website((_, response) => void setTimeout(() => response.end(), 50));
  const startShortener = () =>
    website(({ url = '' }, response) =>
      response.writeHead(301, { Location: `${site}/${url.split('?')[1]}` }).end(),
    );
  return { site, startShortener };
}

test('two clients receive all lines of their lists for one slow website', retry, async () => {
  const { startShortener } = await websites();
  const { url } = await serving(testExpander().app);
  const codes = async (client: string) => {
    const shortener = await startShortener();
    const links = numbered(150, (i) => `${shortener}/${i}?${client}-${i}`);
    const lines = (await text(await answerTo(post(url, client, links)))).trim().split('\n');
    return lines.map((line) => JSON.parse(line).error?.code ?? 'none');
  };
  const lines = await Promise.all(['192.0.2.1', '192.0.2.2'].map(codes));
  expect(lines.flat()).toEqual(Array(300).fill('none'));
});

test('100 links to a hung host do not delay the other lines of a list', retry, async () => {
  const hanging = await website(() => {});
  const { site } = await websites();
  const { url } = await serving(testExpander().app);
  /** Returns the milliseconds until all 200 fast lines have arrived. */
  const lastQuickLine = async (hung: number, path: string) => {
    const started = performance.now();
    const slow = numbered(hung, (i) => `${hanging}/${i}`);
    const links = slow.concat(numbered(200, (i) => `${site}/${path}${i}`));
    let lines = '';
    for await (const piece of await answerTo(post(url, '192.0.2.1', links))) {
      lines += piece;
      if (lines.split(`"url":"${site}`).length > 200) break;
    }
    return performance.now() - started;
  };
  await lastQuickLine(0, 'warm');
  const alone = await lastQuickLine(0, 'alone');
  expect(await lastQuickLine(100, 'beside')).toBeLessThan(5 * alone);
});
