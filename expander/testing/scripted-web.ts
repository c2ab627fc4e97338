import type { App } from '@longhand/shared/routes.ts';
import { followRedirects } from '../src/expansion/chain.ts';
import { ExpansionError } from '../src/expansion/errors.ts';
import { createExpand } from '../src/expansion/expand.ts';
import type { HopResponse } from '../src/expansion/expansion.ts';
import { createApp } from '../src/web/app.ts';
import { responseWith } from './response.ts';

/** Responses and errors by URL. All other URLs refuse the connection. */
export type Web = Record<string, Partial<HopResponse> | Promise<Partial<HopResponse>> | ExpansionError>;

export const to = (location: string, status = 301): Partial<HopResponse> => ({ status, location });

/** Creates the expander's application with the responses in `web`. */
export function scriptedApp(web: Web) {
  const follow = followRedirects(async (url, { chain: { signal } }) => {
    const answer = await web[url.href];
    signal?.throwIfAborted();
    if (answer instanceof ExpansionError) throw answer;
    if (!answer) throw new ExpansionError('request_failed', `${url.host} refused the connection.`);
    return responseWith(answer);
  });
  return createApp(createExpand(follow));
}

/** Returns the page for `u`: its HTML, and the text of the result, chain and hops. */
export async function readPage(app: App, u: string) {
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

/** Parses a table with ` | ` between cells. */
export function table(text: string): [string, string, string, string][] {
  const rows = text.trim().split('\n');
  return rows.map((row) => row.trim().split(' | ') as [string, string, string, string]);
}
