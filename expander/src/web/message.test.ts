import { describe, expect, test } from 'vitest';
import { responseWith } from '../../testing/response.ts';
import { readPage, scriptedApp, to, type Web } from '../../testing/scripted-web.ts';
import { followRedirects } from '../expansion/chain.ts';
import { createExpand } from '../expansion/expand.ts';
import { limitRate } from '../limits/rate.ts';
import { createApp } from './app.ts';

const imitation = 'https://dhl.com.paket-zustellung.top/';
const web: Web = {
  'http://bit.ly/news': to('https://news.example/a'),
  'https://news.example/a': { title: 'A record low' },
  'http://tinyurl.com/dhl': to(imitation),
  [imitation]: { title: 'DHL' },
  'http://sho.rt/pdf': to('https://files.example/a.pdf'),
  'https://files.example/a.pdf': { file: { name: 'a.pdf', size: 1 } },
  'http://sho.rt/sites': to('https://sites.google.com/view/a'),
  'https://sites.google.com/view/a': {},
  ...Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`http://n.example/${n}`, {}])),
};
const app = scriptedApp(web);

/** Returns the text of each row, and of the summary. */
async function check(message: string, from = '') {
  const { html } = await readPage(app, message);
  const page = from
    ? await (await app.request(`/?${new URLSearchParams({ u: message, from })}`)).text()
    : html;
  const text = (markup: string) =>
    markup
      .replace(/<[^>]*>/g, '')
      .replace(/\s+/g, ' ')
      .trim();
  const rows = [...page.matchAll(/<li class="(\w+)"[^>]*>(.*?)<\/li>/gs)].map(
    ([, tone, row = '']) => `${tone}: ${text(row)}`,
  );
  const [, summary = ''] = /<section slot="result"[^>]*>(.*?)<\/section>/s.exec(page) ?? [];
  return { html: page, rows, summary: text(summary) };
}

describe('a message with several links', () => {
  const message = 'Hi! See http://bit.ly/news and http://tinyurl.com/dhl, or http://sho.rt/pdf thanks';

  test('has a row for each link, with its site and a reason, in order, and then a summary', async () => {
    const { rows, summary, html } = await check(message);
    expect(rows).toEqual([
      'plain: http://bit.ly/news news.example A record low',
      'red: http://tinyurl.com/dhl paket-zustellung.top This is not DHL. It leads to paket-zustellung.top',
      'plain: http://sho.rt/pdf files.example It leads to a PDF at files.example',
    ]);
    expect(summary).toBe('Beware of 1 of 3 links. 1 page, 1 file and 1 link to beware of.');
    expect(html.indexOf('<li class')).toBeLessThan(html.indexOf('<section slot="result"'));
    expect(html).toContain('data-wait="3 links. Checking …"');
    expect(html).toContain('<a href="/?u=http%3A%2F%2Ftinyurl.com%2Fdhl&amp;exactly=1">');
  });

  test('can be copied with long links, except those to beware of', async () => {
    const { html } = await check(message);
    const [, copied] = /data-copy="([^"]*)" data-label="Copy the message with long links"/.exec(html) ?? [];
    expect(copied).toBe(
      'Hi! See https://news.example/a and http://tinyurl.com/dhl, or https://files.example/a.pdf thanks',
    );
  });

  test('names what needs care, without repeating the site', async () => {
    expect((await check('http://bit.ly/news http://n.example/1')).rows[1]).toBe(
      'amber: http://n.example/1 n.example Not encrypted',
    );
  });

  test('may need care, or have nothing alarming', async () => {
    expect((await check('http://bit.ly/news http://sho.rt/sites')).summary).toMatch(
      /^Be careful with 1 of 2 links\./,
    );
    expect(
      (await check('http://bit.ly/news http://nobody.example/a http://sho.rt/pdf http://n.example/1'))
        .summary,
    ).toMatch(/^Be careful with 1 of 4 links\./);
    expect((await check('http://bit.ly/news http://sho.rt/pdf')).summary).toBe(
      'Nothing alarming among 2 links. 1 page and 1 file.',
    );
  });

  test('is checked 20 links at a time', async () => {
    const long = Array.from({ length: 25 }, (_, n) => `http://n.example/${n}`).join(' ');
    const first = await check(long);
    expect(first.rows).toHaveLength(20);
    expect(first.summary).toContain('These are links 1 to 20 of 25. Check the next 5');
    expect(first.html).toMatch(/<a href="[^"]*&amp;from=20">Check the next 5</);
    const next = await check(long, '20');
    expect(next.rows.map((row) => row.split(' ')[1])).toEqual(
      [20, 21, 22, 23, 24].map((n) => `http://n.example/${n}`),
    );
    expect(next.summary).toContain('These are links 21 to 25 of 25.');
    expect(next.summary).not.toContain('Check the next');
    for (const from of ['-1', '99', 'x']) expect((await check(long, from)).rows).toHaveLength(20);
  });

  test('is one request of one client for the rate limit', async () => {
    let taken = 0;
    const take = async () => {
      taken += 1;
      return 0;
    };
    const limited = limitRate(
      { count: 1, period: 60_000 },
      take,
    )(async (url) => responseWith(web[url.href] as object));
    const limitedApp = createApp(createExpand(followRedirects(limited)));
    const response = await limitedApp.request(`/?${new URLSearchParams({ u: message })}`);
    await response.text();
    expect(taken).toBe(1);
  });
});
