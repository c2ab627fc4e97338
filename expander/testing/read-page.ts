import type { Hono } from 'hono';

/** The text of the page's result for `u`, of its chain, and of each hop. */
export async function readPage(app: Hono, u: string) {
  const html = await (await app.request(`/?${new URLSearchParams({ u })}`)).text();
  const [result, chain] = ['result', 'chain'].map(
    (slot) => new RegExp(`<section slot="${slot}".*?>(.*?)</section>`, 's').exec(html)?.[1] ?? '',
  ) as [string, string];
  const hops = [...chain.matchAll(/<li[^>]*>(.*?)(?=<li|<\/ol>|<details)/gs)].map(([, hop = '']) =>
    textOf(hop),
  );
  return { result: textOf(result), chain: textOf(chain), hops, html };
}

function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
